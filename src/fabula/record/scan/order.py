"""The order in which changed files are read: newest sessions first, a session before its subagents."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabula.kernel.records import SourceFile
    from fabula.record.scan.finding import Work


def in_reading_order(changed: Sequence[Work]) -> list[Work]:
    """Sort work: newest session first; in it sealed generations before the live file, parents before children."""
    newest: dict[tuple[str, str], int] = {}
    for work in changed:
        family = _family(work.file)
        newest[family] = max(newest.get(family, 0), work.file.mtime_ns)

    def key(work: Work) -> tuple[int, tuple[str, str], bool, int, str]:
        file = work.file
        family = _family(file)
        age = file.generation if file.generation >= 0 else 1 << 30
        return (-newest[family], family, bool(file.parent_session), age, file.path)

    return sorted(changed, key=key)


def _family(file: SourceFile) -> tuple[str, str]:
    return file.host, file.parent_session or file.session or file.path
