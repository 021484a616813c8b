"""Canonical JSON: sorted keys, compact separators, UTF-8. Changing it changes digests: never change it."""

from __future__ import annotations

import json
from typing import Any

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


def canonical_json(value: Any) -> bytes:
    """Return the one byte form of ``value``. Lone surrogates are written as ``\\udXXX`` escapes."""
    text = _encode(value)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()
