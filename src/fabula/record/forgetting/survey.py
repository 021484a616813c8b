"""Surveying the vault: which pieces of which files are forgotten, by a judge that is asked about every piece.

Every generation of every file is looked at, also those that the map does not point at: an older state of a file, a
pruned copy, a fork, a source that is gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from fabula.kernel.hashes import digest
from fabula.kernel.records import Record, SourceFile
from fabula.kernel.values import define, field
from fabula.record.forgetting.marks import marks_of
from fabula.record.loader import decode_json
from fabula.record.reading.sentinels import hide_across_blocks
from fabula.record.vault import manifest
from fabula.record.vault.tombstones import TELLING_BYTES, mark_of_bytes, mark_of_start
from fabula.record.vault.walking import Walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from fabula.record.map.files import KnownFile
    from fabula.record.sources import Normaliser, Source
    from fabula.record.vault.tombstones import Mark
    from fabula.record.vault.values import Generation, SourceEntry
    from fabula.record.vault.vault import Vault

MARK_BYTES_MINIMUM = 16  # of a gap: shorter ones are line ends and blanks


@define
class Sight:
    """A piece as a judge sees it. ``outcome`` is what the host's normaliser made of it, ``None`` for a gap or tail."""

    entry: SourceEntry
    generation: Generation
    offset: int
    data: bytes
    sha: bytes
    value: Any
    outcome: Record | str | None
    tail: bool = False
    behind_gone: bool = False  # the record before it goes

    @property
    def is_told_by_bytes(self) -> bool:
        """Say whether equal bytes are the same thing in any file: a derived id depends on the file as well."""
        return not isinstance(self.outcome, Record) or self.outcome.has_id

    def marks(self) -> list[Mark]:
        """Return by what the piece is known again."""
        path = self.entry.path
        if self.outcome is None:
            marks = [mark_of_bytes(path, self.sha, len(self.data))]
            return [*marks, mark_of_start(path, self.offset)] if self.tail else marks
        return marks_of(path, self.sha, len(self.data), self.value, self.outcome)


class Judge(Protocol):
    """Says what is to be forgotten."""

    def verdict(self, sight: Sight) -> bool:
        """Say whether this piece goes."""
        ...

    def may_remember(self, entry: SourceEntry) -> bool:
        """Say whether equal bytes elsewhere get the verdict that they had in this file."""
        ...


@define
class Doomed:
    """What goes of one generation: pieces as (offset, length), and whether the unterminated last line goes."""

    entry: SourceEntry
    generation: Generation
    pieces: list[tuple[int, int]] = field(default_factory=list)
    digests: set[bytes] = field(default_factory=set)  # of pieces that lie in packs
    records: int = 0
    size: int = 0
    tail: bool = False
    left: int = 0  # pieces that stay, but for blank gaps


class Survey:
    """One look at everything that a vault holds. ``known`` are the map's files by generation of the vault."""

    def __init__(self, vault: Vault, sources: Mapping[str, Source], known: Mapping[int, KnownFile]) -> None:
        self._vault = vault
        self._sources = sources
        self._known = known
        self._staying: set[bytes] = set()  # digests of bytes that were judged to stay
        self.unread: set[bytes] = set()  # digests of bytes that cannot be read: no judge saw them

    def look(self, judge: Judge, found: Callable[[Sight], None] | None = None) -> list[Doomed]:
        """Return what goes, by generation; ``found`` is told of every piece that goes.

        Raises ``ERR_DATABASE``.
        """
        self._staying = set()
        doomed = []
        with Walk(self._vault.folder, self._vault.journal) as walk:
            for entry in self._vault.sources():
                reader = _Reader(entry, self._sources.get(entry.host))
                for generation in entry.generations:
                    reader.turn_to(self._known.get(generation.id))
                    one = Doomed(entry, generation)
                    self._generation(walk, reader, one, judge, found)
                    if one.pieces or one.tail:
                        doomed.append(one)
        return doomed

    def _generation(
        self, walk: Walk, reader: _Reader, one: Doomed, judge: Judge, found: Callable[[Sight], None] | None
    ) -> None:
        entry, generation = one.entry, one.generation
        behind = False
        remembers = judge.may_remember(entry)  # of bytes that tell; short ones are known by their path as well
        for piece, read in walk.pieces(generation.id):
            in_pack = piece.kind in manifest.IN_PACK
            shared = in_pack and remembers and piece.length >= TELLING_BYTES
            known = shared and not behind and piece.value in self._staying
            sight = None if known else _sight(entry, generation, piece, read, reader)
            if sight is not None:
                sight.behind_gone = behind
            elif in_pack and not known:
                self.unread.add(piece.value)
            goes = sight is not None and judge.verdict(sight)
            if goes or (sight is not None and isinstance(sight.outcome, Record)) or known:
                behind = goes
            if sight is None or not goes:
                if shared and sight is not None and sight.is_told_by_bytes:
                    self._staying.add(piece.value)
                one.left += piece.kind in manifest.IN_PACK or (piece.kind == manifest.GAP and bool(piece.value.strip()))
                continue
            if found is not None:
                found(sight)
            one.pieces.append((piece.offset, piece.length))
            one.size += piece.length
            one.records += piece.kind == manifest.RECORD
            if in_pack:
                one.digests.add(piece.value)
        tail = walk.tail(generation.id)
        if tail:
            sight = Sight(entry, generation, generation.length, tail, digest(tail), None, None, tail=True)
            one.tail = judge.verdict(sight)
            one.left += not one.tail
            if one.tail:
                one.size += len(tail)
                if found is not None:
                    found(sight)


def _sight(
    entry: SourceEntry, generation: Generation, piece: manifest.Piece, read: Callable[[], bytes | None], reader: _Reader
) -> Sight | None:
    """Return a piece as a judge sees it; ``None`` for blanks, holes and what is damaged."""
    if piece.kind == manifest.GAP and (piece.length < MARK_BYTES_MINIMUM or not piece.value.strip()):
        return None
    data = read()
    if data is None:
        return None
    if piece.kind != manifest.RECORD:
        return Sight(entry, generation, piece.offset, data, digest(data), None, None)
    value, outcome = reader.read(data, piece.offset)
    return Sight(entry, generation, piece.offset, data, piece.value, value, outcome)


class _Reader:
    """Reads the records of one file's generations as its host does."""

    def __init__(self, entry: SourceEntry, source: Source | None) -> None:
        self._entry = entry
        self._source = source
        self._normaliser: Normaliser | None = None
        self._decode: Callable[[bytes], Any] = decode_json

    def turn_to(self, known: KnownFile | None) -> None:
        """Go on to a generation; ``known`` is what the map knows of it, the state in which it was left above all."""
        entry = self._entry
        if self._source is None:
            return
        file = SourceFile(entry.host, entry.path, entry.kind, entry.session, entry.size, 0, 0, 0, entry.parent)
        state = known.state if known is not None else None
        self._decode = getattr(self._source.container(file), "decode", decode_json)
        self._normaliser = self._source.normaliser(file, state)

    def read(self, data: bytes, offset: int) -> tuple[Any, Record | str]:
        """Return a record's value and what its host's normaliser makes of it; ``""`` where it makes nothing."""
        try:
            value = self._decode(data)
        except ValueError:
            return None, ""
        if self._normaliser is None or not isinstance(value, dict):
            return value, ""
        outcome = self._normaliser.normalise(value, offset, len(data))
        if isinstance(outcome, Record):
            hide_across_blocks(outcome.blocks)
        return value, outcome


def in_order(doomed: Sequence[Doomed]) -> Iterator[Doomed]:
    """Yield what goes in the order of paths and generations."""
    yield from sorted(doomed, key=lambda one: (one.entry.path, one.generation.number))
