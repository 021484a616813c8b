"""Looking for what changed: names and stats alone, compared with what the map knows. Nothing is written."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from fabula.kernel.values import define, field
from fabula.record.map.files import all_stats, file_by_id
from fabula.record.scan.changes import compare
from fabula.record.scan.report import ScanReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import apsw

    from fabula.kernel.records import SourceFile
    from fabula.record.map.files import KnownFile, KnownStats
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


class Settled:
    """Groups of files in which a look found nothing changed.

    A source that remembers a group hands out the same list again, and the map's stats are the same: so is the outcome.
    Whoever loads the stats anew begins anew.
    """

    def __init__(self) -> None:
        self._before: dict[int, tuple[Sequence[SourceFile], frozenset[int]]] = {}
        self._now: dict[int, tuple[Sequence[SourceFile], frozenset[int]]] = {}

    def begin(self) -> None:
        """Begin a look: groups that the last one did not see are dropped."""
        self._before, self._now = self._now, {}

    def rows(self, group: Sequence[SourceFile]) -> frozenset[int] | None:
        """Return the map's rows of a group that the last look saw, ``None`` for one to be compared file by file."""
        known = self._before.get(id(group))
        if known is None or known[0] is not group:
            return None
        self._now[id(group)] = known
        return known[1]

    def note(self, group: Sequence[SourceFile], rows: frozenset[int]) -> None:
        """Remember that every file of a group is as the map's ``rows`` say."""
        self._now[id(group)] = group, rows


def find_changes(
    connection: apsw.Connection,
    sources: Sequence[Source],
    known: KnownStats | None = None,
    settled: Settled | None = None,
) -> Findings:
    """Look at every file that the sources find.

    ``known`` are the map's stats where the caller has them already, and ``settled`` what it remembers of its last
    look at them.
    """
    known = known if known is not None else all_stats(connection)
    settled = settled if settled is not None else Settled()
    settled.begin()
    found = Findings(ScanReport(), time.time_ns(), fresh=not known.by_file)
    report = found.report
    seen: set[int] = set()  # rows of files that are there
    for source in sources:
        for group in groups_of(source):
            report.files_seen += len(group)
            rows = settled.rows(group)
            if rows is None:
                before = len(found.changed)
                rows = _compare(connection, source, group, known, found.changed)
                if len(found.changed) == before:
                    settled.note(group, rows)
            seen |= rows
        report.problems += source.problems()
    report.files_unchanged = report.files_seen - len(found.changed)
    gone = sorted(known.live - seen)
    found.gone = [row for key in gone if (row := file_by_id(connection, key)) is not None]
    return found


def groups_of(source: Source) -> Iterable[Sequence[SourceFile]]:
    """Return the files of a source in the groups that it finds them in; one of all where it knows none."""
    groups: Callable[[], Iterable[Sequence[SourceFile]]] | None = getattr(source, "groups", None)
    return groups() if groups is not None else [list(source.discover())]


def _compare(
    connection: apsw.Connection,
    source: Source,
    group: Sequence[SourceFile],
    known: KnownStats,
    changed: list[Work],
) -> frozenset[int]:
    """Add what may have changed to ``changed``; return the rows of the files that the map knows."""
    look_up = known.by_file.get
    rows = []
    for file in group:
        stat = look_up((file.path, file.generation))
        if stat is not None:
            rows.append(stat.id)
        change = compare(file, stat)
        if change != "unchanged":
            row = file_by_id(connection, stat.id) if stat is not None else None
            changed.append(Work(file, row, change, source))
    return frozenset(rows)
