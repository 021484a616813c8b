"""What people and agents added to the record: pins, titles, cards, citations handed out, and what was forgotten.

It lies in the vault's journal, so that a new map loses none of it. Writing needs no vault lock: one short transaction
of the journal does, also while a scan is sealing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import frozen
from fabula.record.vault.folder import require_journal
from fabula.record.vault.journal import Journal
from fabula.storage.files import ensure_folder

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from fabula.kernel.clock import Clock

PRINT_BYTES = 32


@frozen
class Pin:
    """Something kept at hand. ``kind`` says what ``ref`` names: a session, a thread."""

    kind: str
    ref: str
    pinned_at: int


@frozen
class Citation:
    """A record whose bytes were handed to a reader, who may quote them."""

    uid: str
    digest: bytes
    reader: str
    first_at: int
    last_at: int


class Keepsakes:
    """Reads and writes them through one journal."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock

    @classmethod
    def open(cls, folder: Path, clock: Clock) -> Keepsakes:
        """Open those of the vault in ``folder`` for writing.

        Raises ``ERR_VAULT_FORMAT``, ``ERR_VAULT_DAMAGED``, ``ERR_DATABASE``, ``ERR_READ_ONLY``, ``ERR_DISK``.
        """
        ensure_folder(folder)
        require_journal(folder)
        return cls(Journal.open(folder, read_only=False), clock)

    def close(self) -> None:
        """Close the journal."""
        self._journal.close()

    # -- pins and titles -----------------------------------------------------------------------------------------

    def pin(self, kind: str, ref: str) -> bool:
        """Pin something; say whether it was not pinned before."""
        return bool(self._journal.keep("pins", [(kind, ref, self._clock.now_ms())]))

    def unpin(self, kind: str, ref: str) -> bool:
        """Take a pin away; say whether there was one."""
        return bool(self._journal.drop("pins", [(kind, ref)]))

    def pins(self) -> list[Pin]:
        """Return all pins, the newest first."""
        return [Pin(*row) for row in self._journal.rows("select kind, ref, pinned_at from pins order by 3 desc, 1, 2")]

    def entitle(self, kind: str, ref: str, title: str) -> None:
        """Give something a title; the empty text takes it away."""
        if title:
            self._journal.put("titles", [(kind, ref, title, self._clock.now_ms())])
        else:
            self._journal.drop("titles", [(kind, ref)])

    def titles(self, kind: str) -> dict[str, str]:
        """Return the titles given to things of a kind."""
        return dict(self._journal.rows("select ref, title from titles where kind=? order by ref", (kind,)))

    # -- cards ---------------------------------------------------------------------------------------------------

    def keep_card(self, ref: str, card: str) -> None:
        """Keep the card (JSON) of a thread; a newer one replaces it."""
        self._journal.put("cards", [(ref, card, self._clock.now_ms())])

    def cards(self) -> dict[str, str]:
        """Return all cards."""
        return dict(self._journal.rows("select ref, card from cards order by ref"))

    # -- citations -----------------------------------------------------------------------------------------------

    def hand_out(self, cited: Iterable[tuple[str, bytes]], reader: str) -> None:
        """Write down that ``reader`` was given these records, as (uid, digest)."""
        now = self._clock.now_ms()
        known = "select first_at from citations where uid=? and digest=? and reader=?"
        rows = []
        for uid, digest in cited:
            found = self._journal.rows(known, (uid, digest, reader))
            rows.append((uid, digest, reader, found[0][0] if found else now, now))
        self._journal.put("citations", rows)

    def citations(self, uid: str) -> list[Citation]:
        """Return to whom a record was handed out, the earliest first."""
        query = "select uid, digest, reader, first_at, last_at from citations where uid=? order by first_at, reader"
        return [Citation(*row) for row in self._journal.rows(query, (uid,))]

    # -- tombstones ----------------------------------------------------------------------------------------------

    def bury(self, kind: str, value: bytes) -> None:
        """Remember that something was forgotten on purpose, without keeping what it was."""
        self._journal.keep("tombstones", [(self._print(kind, value), kind, self._clock.now_ms())])

    def is_buried(self, kind: str, value: bytes) -> bool:
        """Say whether this was forgotten on purpose."""
        return bool(self._journal.rows("select 1 from tombstones where print=?", (self._print(kind, value),)))

    def _print(self, kind: str, value: bytes) -> bytes:
        """Return a keyed digest: who lacks this vault's key cannot test a guess against it."""
        from hashlib import blake2b

        _, key = self._journal.identity()
        return blake2b(value, key=key, digest_size=PRINT_BYTES, person=kind.encode()[:16]).digest()
