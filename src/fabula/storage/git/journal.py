"""What a commit in the making writes down before it moves the ref, so that the next to open it completes it.

One file in the git folder of the work tree: a digest, a line feed, a JSON document. A file whose digest is wrong was
torn while it was written: the ref had not moved.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from fabula.kernel.values import as_dict, frozen
from fabula.storage.git.values import Edit, Entry

if TYPE_CHECKING:
    from pathlib import Path

VERSION = 1


@frozen
class Plan:
    """A commit in the making: its id, the commit it follows, who makes it, and what becomes of each path.

    ``staged``: path -> name of the file in the staging folder that goes there. ``skipped``: paths that are left out of
    the work tree on purpose (sparse checkouts): nothing at them is as good as the old file.
    """

    commit: str
    parent: str
    process: int
    edits: tuple[Edit, ...]
    staged: dict[str, str]
    skipped: tuple[str, ...] = ()


def plan_bytes(plan: Plan) -> bytes:
    """Write a plan."""
    document = {
        "version": VERSION,
        "commit": plan.commit,
        "parent": plan.parent,
        "process": plan.process,
        "edits": [[edit.path, _plain(edit.old), _plain(edit.new)] for edit in plan.edits],
        "staged": plan.staged,
        "skipped": plan.skipped,
    }
    body = json.dumps(document, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode()
    return sha256(body).hexdigest().encode() + b"\n" + body


def read_plan(path: Path) -> Plan | None:
    """Read a plan back; ``None`` when there is none or it is torn."""
    try:
        digest, _, body = path.read_bytes().partition(b"\n")
    except FileNotFoundError:
        return None
    if sha256(body).hexdigest().encode() != digest:
        return None
    document = json.loads(body)
    edits = tuple(Edit(path, _entry(old), _entry(new)) for path, old, new in document["edits"])
    skipped = tuple(document["skipped"])
    return Plan(document["commit"], document["parent"], document["process"], edits, document["staged"], skipped)


def _plain(entry: Entry | None) -> dict[str, Any] | None:
    return as_dict(entry) if entry else None


def _entry(document: dict[str, str] | None) -> Entry | None:
    return Entry(document["mode"], document["id"]) if document else None
