"""Exports as JSON: the document's own fields, for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fabula.kernel.values import as_dict

if TYPE_CHECKING:
    from fabula.record.reading.document import Document

FORMAT = 1


def to_json(document: Document) -> str:
    """Write a document as indented JSON: ``format``, ``title``, ``facts``, ``threads`` with turns and pieces."""
    value = {"format": FORMAT, **as_dict(document), "facts": {name: text for name, text in document.facts if text}}
    return json.dumps(value, ensure_ascii=False, indent=1, default=as_dict) + "\n"
