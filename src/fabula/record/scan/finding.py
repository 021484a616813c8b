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
    report = found.report
    seen: set[tuple[str, int]] = set()
    for source in sources:
        for file in source.discover():
            key = (file.path, file.generation)
            seen.add(key)
            report.files_seen += 1
            stats = known.get(key)
            change = compare(file, stats)
            if change == "unchanged":
                report.files_unchanged += 1
            else:
                row = file_by_id(connection, stats.id) if stats is not None else None
                found.changed.append(Work(file, row, change, source))
        report.problems += source.problems()
    gone = [stats.id for key, stats in known.items() if key[1] < 0 and stats.vanished_at is None and key not in seen]
    found.gone = [row for key in gone if (row := file_by_id(connection, key)) is not None]
    return found
