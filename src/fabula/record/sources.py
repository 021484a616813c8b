"""How the record plane sees a coding agent: a source finds files, opens them as containers and names their records.

The record plane knows no host by name; hosts implement these protocols and the composition root passes them in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from fabula.kernel.values import define, field

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabula.kernel.records import Record, SourceFile

#: Endings of the names of files that are compressed as a whole.
COMPRESSED_SUFFIXES = (".zst", ".gz")


@define
class Found:
    """One JSON value found in a file: a span of bytes and what it decodes to."""

    offset: int  # bytes from the start of the (decompressed) file
    length: int
    value: Any
    recovered: bool = False  # found by rescanning after an error on its line
    counts: bool = True  # False for the head of a whole-file document: context for the normaliser, a gap in accounting


@define
class Chunk:
    """A consecutive part of a file, never cutting a value: its bytes and the values in them, in file order.

    Bytes outside every value are gaps (line ends, blanks) or unreadable (``unreadable`` counts them);
    ``offset + len(data)`` is where the next chunk begins.
    """

    offset: int
    data: bytes
    values: list[Found] = field(default_factory=list)
    unreadable: int = 0


class TypedLines(Protocol):
    """Decodes the common lines of a host into typed values, of which a normaliser reads more quickly than of mappings.

    ``decode_lines`` raises ``msgspec.MsgspecError`` when a line is no JSON or does not fit ``type``. Whether bytes that
    it skips are valid UTF-8 it need not ask.
    """

    @property
    def type(self) -> type:
        """The class of the values."""
        ...

    def decode_lines(self, data: bytes | memoryview, /) -> list[Any]:
        """Decode whole lines."""
        ...

    def holds_all(self, line: Any) -> bool:
        """Say whether the typed value holds all that the normaliser reads; else it wants the line as a mapping."""
        ...


class Container(Protocol):
    """The byte form of a file: JSON lines, a compressed stream of them, one JSON document, database rows.

    ``chunks(start)`` reads from a byte that ended an earlier chunk (0 at first). A last line without its newline is
    part of a chunk only when it is a whole value; otherwise it waits, and ``waiting`` counts its bytes afterwards.
    Errors of the file system surface as ``OSError``; nothing else is raised for bad bytes.
    A container whose values are not their bytes' JSON has ``decode(data) -> value`` for the bytes of one value; one of
    lines may have ``typed``, which a reader sets to what its normaliser offers.
    """

    waiting: int
    tail: bytes  # the waiting bytes themselves (the first 16 MB of them)

    def chunks(self, start: int = 0) -> Iterator[Chunk]:
        """Yield the file's chunks from ``start``."""
        ...


class Normaliser(Protocol):
    """Turns the values of one file into records, in file order.

    ``state`` is what later values of the same file need (JSON-able); it is saved between scans.
    A returned text is the kind under which the value is counted as skipped (kept in the vault, not indexed).
    One that has ``typed_lines() -> TypedLines`` normalises typed values too, to the record that the mapping gives.
    Never raises for a strange value: types are checked field by field.
    """

    state: dict[str, Any]

    def normalise(self, value: dict[str, Any], offset: int, length: int) -> Record | str:
        """Return the record in ``value``, or the kind under which it is skipped."""
        ...


class Source(Protocol):
    """One coding agent's transcripts.

    A source that remembers between looks has ``groups() -> Iterator[Sequence[SourceFile]]``: what :meth:`discover`
    finds, in groups; one that is the very object of an earlier look holds the same files with the same stats.
    """

    host: str

    def discover(self) -> Iterator[SourceFile]:
        """Find the files by name and stat alone. Unreadable folders are reported by :meth:`problems`."""
        ...

    def problems(self) -> list[tuple[str, str]]:
        """Return (path, reason) of what the last discovery could not look into."""
        ...

    def container(self, file: SourceFile) -> Container:
        """Open a file's byte form. Raises ``OSError``."""
        ...

    def normaliser(self, file: SourceFile, state: dict[str, Any] | None) -> Normaliser:
        """Return a normaliser that goes on from ``state`` (``None`` at a file's start)."""
        ...
