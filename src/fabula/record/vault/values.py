"""What the vault says about itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from fabula.kernel.records import Provenance

TAIL_WINDOW = 4096  # bytes before the end of what was sealed, whose digest says whether a file only grew


@frozen
class Generation:
    """One state of a source file; a file that is rewritten begins the next one."""

    id: int
    source_id: int
    number: int
    provenance: Provenance
    immutable: bool
    length: int  # bytes sealed so far
    tail_digest: bytes | None  # SHA-256 of the last TAIL_WINDOW bytes sealed (fewer when the file is shorter)
    tail_length: int  # bytes of the unterminated last line that follow them
    begun_at: int
    sealed_at: int

    @property
    def size(self) -> int:
        """Bytes that restoring it gives."""
        return self.length + self.tail_length


@frozen
class SourceEntry:
    """A file in the ledger."""

    id: int
    host: str
    path: str
    kind: str
    session: str
    first_seen: int
    last_seen: int
    size: int
    vanished_at: int | None
    parent: str = ""  # the session that spawned the one in this file
    generations: tuple[Generation, ...] = ()


@frozen
class Touched:
    """A span of a file whose bytes are in a damaged place."""

    path: str
    generation: int  # its number
    offset: int
    length: int


@frozen
class Damage:
    """Something that is not as it was written."""

    place: str  # the file, and what in it
    offset: int | None  # of the frame in its pack
    problem: str
    digests: tuple[str, ...] = ()  # of the records that cannot be trusted
    touched: tuple[Touched, ...] = ()


@frozen
class RepairReport:
    """What a repair did."""

    packs: int  # read back
    records: int  # found in them
    mended: int  # lost records that a source still held
    lost: int  # records that nothing holds any more
    problems: tuple[str, ...]  # what could not be read


@frozen
class VaultStats:
    """Sizes in bytes and counts."""

    sources: int
    vanished: int
    generations: int
    sealed_bytes: int  # of all generations, as files
    records: int  # distinct
    content_bytes: int  # of distinct records
    packs: int
    pack_bytes: int
    image_bytes: int  # of them, in packs for pictures
    loose_bytes: int
    journal_bytes: int

    @property
    def stored_bytes(self) -> int:
        """What the vault costs on disk."""
        return self.pack_bytes + self.journal_bytes
