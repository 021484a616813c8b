"""What a rewriting keeps, changes and drops: pure decisions over one read of a file of JSON lines.

A rule looks at a :class:`Snapshot` and names :class:`Change` values; :func:`make_plan` turns them into cuts of the
bytes. Every byte that no change names is copied as it is: invalid UTF-8, line ends of other systems, objects side by
side on one line, lines that nobody can read, and the unterminated last line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from fabula.kernel.values import frozen
from fabula.record.containers.jsonl import CHUNK_BYTES, parse_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fabula.record.sources import Found

_BLANKS = b" \t\r"


@frozen
class Change:
    """One edit. ``data`` of ``None`` drops the value at the span; bytes replace it (they hold no line end).

    A ``length`` of 0 inserts ``data`` as a line of its own before the line that begins at ``offset``. ``why`` is a word
    for reports.
    """

    offset: int
    length: int
    data: bytes | None
    why: str


class Snapshot:
    """One read of a file: its bytes, and the JSON values of its whole lines in file order, none left out.

    ``end`` is where the unterminated last line begins. The values are looked for when they are first asked for: they
    take several times the memory of the bytes, and taking a rewriting back needs none of them.
    """

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        self._read: tuple[list[Found], int] | None = None

    @property
    def values(self) -> list[Found]:
        """The values of all whole lines."""
        return self._parsed()[0]

    @property
    def end(self) -> int:
        """The end of the last whole line."""
        return self._parsed()[1]

    def _parsed(self) -> tuple[list[Found], int]:
        if self._read is None:
            self._read = _values_of(self.data)
        return self._read

    def raw(self, found: Found) -> bytes:
        """Return the bytes of a value."""
        return self.data[found.offset : found.offset + found.length]


def _values_of(data: bytes) -> tuple[list[Found], int]:
    """Find the values of whole lines, a chunk at a time as a scan does: a whole file at once is slower."""
    values: list[Found] = []
    begin = 0
    while True:
        cut = data.find(b"\n", begin + CHUNK_BYTES) + 1
        chunk, used = parse_lines(data[begin:cut] if cut else data[begin:], begin, last=not cut)
        values += chunk.values
        if not cut:
            return values, begin + used
        begin = cut


#: A pure rule: what to change. It may refuse with a ``FabulaError``; then nothing is touched.
Rule = Callable[[Snapshot], Iterable[Change]]
#: A range of the old bytes (begin, end) and what stands there afterwards.
Cut = tuple[int, int, bytes]


@frozen
class Plan:
    """What becomes of a file. ``head`` bytes of it were planned; what the host adds later follows as it is."""

    changes: tuple[Change, ...]
    cuts: tuple[Cut, ...]
    head: int
    size: int  # of the planned part afterwards

    @property
    def dropped(self) -> int:
        """How many values go."""
        return sum(change.data is None for change in self.changes)

    @property
    def changed(self) -> int:
        """How many values are replaced."""
        return sum(change.data is not None and change.length > 0 for change in self.changes)

    @property
    def inserted(self) -> int:
        """How many lines are new."""
        return sum(change.length == 0 for change in self.changes)

    def pieces(self, data: bytes) -> Iterator[bytes | memoryview]:
        """Yield the file as it will be, in pieces."""
        view, position = memoryview(data), 0
        for begin, end, replacement in self.cuts:
            if begin > position:
                yield view[position:begin]
            if replacement:
                yield replacement
            position = end
        if position < self.head:
            yield view[position : self.head]


def make_plan(snapshot: Snapshot, changes: Iterable[Change]) -> Plan:
    """Plan the changes. Raises ``ValueError`` when one names no value's span, or two name the same."""
    ordered = sorted(changes, key=lambda change: (change.offset, change.length))
    spans = {found.offset: found.length for found in snapshot.values}
    for before, change in zip([None, *ordered], ordered, strict=False):
        if change.length and spans.get(change.offset) != change.length:
            raise ValueError(f"no value lies at {change.offset}+{change.length}")
        if change.length == 0 and not _begins_line(snapshot, change.offset):
            raise ValueError(f"no line begins at {change.offset}")
        if before is not None and change.length and before.offset + before.length > change.offset:
            raise ValueError(f"two changes at {change.offset}")
    cuts = tuple(_cuts(snapshot, ordered))
    return _plan(snapshot, tuple(ordered), cuts)


def replace_head(snapshot: Snapshot, end: int, data: bytes, why: str) -> Plan:
    """Plan other bytes for the first ``end`` bytes of a file; what follows stays."""
    return _plan(snapshot, (Change(0, end, data, why),), ((0, end, data),))


def _plan(snapshot: Snapshot, changes: tuple[Change, ...], cuts: tuple[Cut, ...]) -> Plan:
    head = len(snapshot.data)
    size = head + sum(len(data) - (end - begin) for begin, end, data in cuts)
    return Plan(changes, cuts, head, size)


def _begins_line(snapshot: Snapshot, offset: int) -> bool:
    if offset in (0, snapshot.end):
        return True
    return 0 < offset < snapshot.end and snapshot.data[offset - 1] == 0x0A


def _cuts(snapshot: Snapshot, ordered: Sequence[Change]) -> Iterator[Cut]:
    """Turn changes into cuts, line by line: a line of which nothing is left goes with its line end."""
    line: list[Change] = []
    line_end = -1
    for change in ordered:
        if change.length == 0:
            yield from _line_cuts(snapshot.data, line)
            line, line_end = [], -1
            yield _insertion(snapshot, change)
            continue
        if change.offset >= line_end:
            yield from _line_cuts(snapshot.data, line)
            line = []
            found = snapshot.data.find(b"\n", change.offset + change.length)
            line_end = found + 1 if found >= 0 else len(snapshot.data)
        line.append(change)
    yield from _line_cuts(snapshot.data, line)


def _line_cuts(data: bytes, line: Sequence[Change]) -> Iterator[Cut]:
    if not line:
        return
    if all(change.data is None for change in line):
        begin = data.rfind(b"\n", 0, line[0].offset) + 1
        found = data.find(b"\n", line[-1].offset + line[-1].length)
        end = found if found >= 0 else len(data)
        if not _left(data, begin, end, line).strip(_BLANKS):
            yield begin, min(end + 1, len(data)), b""
            return
    for change in line:
        yield change.offset, change.offset + change.length, change.data or b""


def _left(data: bytes, begin: int, end: int, line: Sequence[Change]) -> bytes:
    """Return what of a line no change covers."""
    parts, position = [], begin
    for change in line:
        parts.append(data[position : change.offset])
        position = change.offset + change.length
    return b"".join([*parts, data[position:end]])


def _insertion(snapshot: Snapshot, change: Change) -> Cut:
    torn = change.offset > 0 and snapshot.data[change.offset - 1] != 0x0A  # after a last line without its end
    return change.offset, change.offset, (b"\n" if torn else b"") + (change.data or b"") + b"\n"
