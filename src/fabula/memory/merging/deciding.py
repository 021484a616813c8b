"""What becomes of each file of two sides: one version at one place, or a conflict that a person decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import frozen
from fabula.memory.format.paths import is_indexed
from fabula.memory.merging.heads import merge_memories
from fabula.memory.merging.texts import ACCOUNT, is_generated, is_log, merge_accounts, merge_logs
from fabula.memory.merging.values import Conflict
from fabula.storage.git.joining import Wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from fabula.memory.merging.lines import Line
    from fabula.memory.merging.values import ConflictKind
    from fabula.memory.past.facts import Facts
    from fabula.storage.git.values import Entry

    Files = Mapping[str, Entry]
    #: (base, ours, theirs) -> merged lines, ``None`` where they conflict
    PlainMerge = Callable[[bytes, bytes, bytes], bytes | None]

_ARCHIVE = "archive/"


@frozen
class Decided:
    """What is to be at the paths of the merged tree, and what nobody but a person can decide."""

    wanted: dict[str, Wanted]
    conflicts: tuple[Conflict, ...]
    moved: tuple[tuple[str, str], ...]
    notices: tuple[str, ...]


class Decider:
    """Decides line by line. ``data`` gives the bytes of a blob, ``plain`` merges texts that are no memories."""

    def __init__(
        self, sides: tuple[Files, Files, Files], facts: Facts, data: Callable[[str], bytes], plain: PlainMerge
    ) -> None:
        self._base, self._ours, self._theirs = sides
        self._facts = facts
        self._data = data
        self._plain = plain
        self._wanted: dict[str, Wanted] = {}
        self._conflicts: list[Conflict] = []
        self._moved: list[tuple[str, str]] = []
        self._notices: list[str] = []

    def decide(self, lines: Iterable[Line]) -> Decided:
        """Return what the lines come to."""
        for line in lines:
            self._decide(line)
        return Decided(self._wanted, tuple(self._conflicts), tuple(self._moved), tuple(self._notices))

    def _decide(self, line: Line) -> None:
        base, ours, theirs = self._base.get(line.base), self._ours.get(line.ours), self._theirs.get(line.theirs)
        if ours is None and theirs is None:
            return
        if ours is None or theirs is None:
            self._one_sided(line, base, (ours, theirs))
            return
        place = _place_of(line)
        if place is None:
            self._conflict(line, "moved_apart")
            return
        version = self._version(place, line, (base, ours, theirs))
        if isinstance(version, str):
            self._conflict(line, version)
            return
        self._tell(line, place, (base, ours, theirs))
        self._keep(line, place, version)

    def _one_sided(self, line: Line, base: Entry | None, sides: tuple[Entry | None, Entry | None]) -> None:
        """Decide on a file that one side alone has: it is new there, or the other side took it away."""
        place, there = (line.ours, sides[0]) if sides[0] is not None else (line.theirs, sides[1])
        assert there is not None
        if base is None:
            self._keep(line, place, Wanted(there.id, mode=there.mode))
        elif place != line.base and place.startswith(_ARCHIVE):
            self._notices.append(f"{line.base}: one side deleted it, the other archived it: it is in the archive")
            self._keep(line, place, Wanted(there.id, mode=there.mode))
        elif place != line.base or there != base:
            self._conflict(line, "deleted_edited")

    def _version(self, place: str, line: Line, entries: tuple[Entry | None, Entry, Entry]) -> Wanted | ConflictKind:
        base, ours, theirs = entries
        mode = ours.mode if base is None or theirs.mode == base.mode else theirs.mode
        if ours.id == theirs.id or (base is not None and theirs.id == base.id):
            return Wanted(ours.id, mode=mode)
        if base is not None and ours.id == base.id:
            return Wanted(theirs.id, mode=mode)
        if is_generated(place):
            return Wanted(ours.id, mode=mode)
        merged = self._merged(place, line, base.id if base else "", (ours.id, theirs.id))
        return merged if isinstance(merged, str) else Wanted(data=merged, mode=mode)

    def _merged(self, place: str, line: Line, base: str, sides: tuple[str, str]) -> bytes | ConflictKind:
        if is_indexed(place):
            readings = [self._facts.reading(blob) if blob else None for blob in (base, *sides)]
            before, ours, theirs = readings
            if ours is not None and theirs is not None and all(one is None or one.is_memory for one in readings):
                return merge_memories(before, ours, theirs)
        before_data, one, other = (self._data(blob) if blob else b"" for blob in (base, *sides))
        if is_log(place):
            return merge_logs(before_data, one, other)
        if place == ACCOUNT:
            return merge_accounts(before_data, one, other)
        if not line.base:
            return "added_twice"
        merged = self._plain(before_data, one, other)
        return merged if merged is not None else "content"

    def _keep(self, line: Line, place: str, version: Wanted) -> None:
        """Put a version at its place, where no other file is to be."""
        other = self._wanted.get(place)
        if other is not None and other != version:
            self._conflict(line, "occupied")
            return
        self._wanted[place] = version
        old = line.ours or line.base
        if old and old != place:
            self._moved.append((old, place))

    def _tell(self, line: Line, place: str, entries: tuple[Entry | None, Entry, Entry]) -> None:
        """Say what a person may want to look at."""
        base, ours, theirs = entries
        for entry, lay, went in ((ours, line.ours, line.theirs), (theirs, line.theirs, line.ours)):
            if went.startswith(_ARCHIVE) and lay == line.base != went and base is not None and entry.id != base.id:
                self._notices.append(f"{place}: archived by one side, changed by the other: it is archived as changed")
        said = [
            reading.head.superseded_by
            for entry in (ours, theirs)
            if is_indexed(place) and (reading := self._facts.reading(entry.id)) is not None and reading.is_memory
        ]
        if len(set(said)) == 2 and None not in said:
            self._notices.append(f"{place}: each side put another memory in its place: {said[0]} and {said[1]}")

    def _conflict(self, line: Line, kind: ConflictKind) -> None:
        files = (self._base.get(line.base), self._ours.get(line.ours), self._theirs.get(line.theirs))
        base, ours, theirs = (file.id if file is not None else "" for file in files)
        self._conflicts.append(Conflict(line.ours or line.theirs or line.base, base, ours, theirs, kind))


def _place_of(line: Line) -> str | None:
    """Return where a file lies that both sides have; ``None`` when they moved it to different places.

    The archive wins over another move, and of two places in it the earlier: the file was archived then already.
    """
    if line.theirs in {line.ours, line.base}:
        return line.ours
    if line.ours == line.base:
        return line.theirs
    archived = [place for place in (line.ours, line.theirs) if place.startswith(_ARCHIVE)]
    return min(archived) if archived else None
