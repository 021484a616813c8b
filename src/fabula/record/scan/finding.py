"""Looking for what changed: names and stats alone, compared with what the map knows. Nothing is written."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from fabula.kernel.values import define, field
from fabula.record.map.files import all_stats, file_by_id
from fabula.record.scan.changes import compare
from fabula.record.scan.report import ScanReport

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from fabula.kernel.records import SourceFile
    from fabula.record.map.files import KnownFile, KnownStat
    from fabula.record.scan.changes import Change
    from fabula.record.sources import Source


@define
class Work:
    """A file that may have changed, and what is known of it."""

    file: SourceFile
    known: KnownFile | None
    change: Change
    source: Source


@define
class Findings:
    """What a look at the sources found. ``fresh`` says that the map knows no file at all."""

    report: ScanReport
    scanned_ns: int
    fresh: bool
    changed: list[Work] = field(default_factory=list)
    gone: list[KnownFile] = field(default_factory=list)

    @property
    def nothing(self) -> bool:
        """Whether everything is as the last scan left it."""
        return not (self.changed or self.gone or self.fresh)


def find_changes(
    connection: apsw.Connection, sources: Sequence[Source], known: dict[tuple[str, int], KnownStat] | None = None
) -> Findings:
    """Look at every file that the sources find; ``known`` are the map's stats where the caller has them already."""
    if known is None:
        known = all_stats(connection)
    found = Findings(ScanReport(), time.time_ns(), fresh=not known)
    report, look_up = found.report, known.get
    seen: set[int] = set()  # rows of files that are there
    note = seen.add
    for source in sources:
        for file in source.discover():
            report.files_seen += 1
            stats = look_up((file.path, file.generation))
            if stats is not None:
                note(stats.id)
            change = compare(file, stats)
            if change != "unchanged":
                row = file_by_id(connection, stats.id) if stats is not None else None
                found.changed.append(Work(file, row, change, source))
        report.problems += source.problems()
    report.files_unchanged = report.files_seen - len(found.changed)
    if len(seen) < len(known):
        found.gone = _gone(connection, known, seen)
    return found


def _gone(connection: apsw.Connection, known: dict[tuple[str, int], KnownStat], seen: set[int]) -> list[KnownFile]:
    """Return the live files that were there at the last scan and are not now."""
    rows = [
        stats.id
        for (_, generation), stats in known.items()
        if generation < 0 and stats.vanished_at is None and stats.id not in seen
    ]
    return [row for key in rows if (row := file_by_id(connection, key)) is not None]
