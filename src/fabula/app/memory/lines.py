"""One memory as a line of a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from fabula.memory.index.values import FileRow


@frozen
class MemoryLine:
    """What lists show of a memory. Times in ms; ``dirty``: the file differs from what is committed."""

    path: str
    title: str
    type: str
    claim: str
    workspace: str | None
    bucket: str
    tags: tuple[str, ...]
    entities: tuple[str, ...]
    confidence: float
    importance: int
    archived: bool
    superseded_by: str | None
    created: int
    updated: int
    dirty: bool


def line_of(row: FileRow) -> MemoryLine:
    """Return the line of a memory."""
    return MemoryLine(
        row.path, row.title, row.type, row.claim, row.workspace, row.bucket, row.tags, row.entities, row.confidence,
        row.importance, row.archived, row.superseded_by, row.created, row.updated, row.dirty,
    )  # fmt: skip
