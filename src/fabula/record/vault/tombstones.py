"""What was forgotten on purpose, as writers ask for it: keyed prints, loaded once.

A print is a BLAKE2b digest under a key of the vault: a copy of the prints alone tells nobody what was forgotten.
Kinds: ``bytes`` a digest of exact bytes, wherever they turn up; ``place`` a path and such a digest, for bytes too short
to be told from others; ``start`` a path and an offset, for a line that was unfinished; ``uid`` a record's own id;
``content`` what a record says and when, whatever the envelope around it; ``weak`` what a line says that is no record
of its own, which counts only right behind a record that was forgotten; ``kept`` the reference of a title or a card that
went with it, so that no import brings it back.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.record.vault.journal import Journal

BYTES, PLACE, START, UID, CONTENT, WEAK = "bytes", "place", "start", "uid", "content", "weak"
KEPT = "kept"
PRINT_BYTES = 32
#: Shorter bytes may say the same in many places (``ok``, ``{}``): they are forgotten where they were, and only there.
TELLING_BYTES = 64

Mark = tuple[str, bytes]  # a kind and what is printed


def keyed_print(key: bytes, kind: str, value: bytes) -> bytes:
    """Return the print of a value: who lacks this vault's key cannot test a guess against it."""
    return blake2b(value, key=key, digest_size=PRINT_BYTES, person=kind.encode()[:16]).digest()


def mark_of_bytes(path: str, digest: bytes, size: int) -> Mark:
    """Return what marks bytes of a file: their digest alone, or with their path where they are short."""
    if size >= TELLING_BYTES:
        return BYTES, digest
    return PLACE, path.encode("utf-8", "surrogatepass") + b"\0" + digest


def mark_of_start(path: str, offset: int) -> Mark:
    """Return what marks the line that begins at a byte of a file."""
    return START, path.encode("utf-8", "surrogatepass") + b"\0" + offset.to_bytes(8, "big")


class Tombstones:
    """The prints of one vault, in memory: about 90 bytes each."""

    __slots__ = ("_key", "_prints")

    def __init__(self, key: bytes, prints: set[bytes]) -> None:
        self._key = key
        self._prints = prints

    @classmethod
    def load(cls, journal: Journal) -> Tombstones | None:
        """Read those of a journal; ``None`` when nothing was ever forgotten. Raises ``ERR_DATABASE``."""
        prints = {row[0] for row in journal.rows("select print from tombstones")}
        key = journal.meta("tombstone_key")
        return cls(key, prints) if prints and key is not None else None

    @classmethod
    def of(cls, key: bytes, marks: set[Mark]) -> Tombstones:
        """Make those that marks would leave."""
        return cls(key, {keyed_print(key, kind, value) for kind, value in marks})

    def has(self, kind: str, value: bytes) -> bool:
        """Say whether this was forgotten."""
        return keyed_print(self._key, kind, value) in self._prints

    def any_of(self, marks: list[Mark], *, weak: bool = False) -> bool:
        """Say whether one of these was forgotten; weak marks are asked only where they count."""
        key, prints = self._key, self._prints
        return any((weak or kind != WEAK) and keyed_print(key, kind, value) in prints for kind, value in marks)
