"""Writing what an import decided into the vault's journal. Nothing that is there is replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.record.importing.plan import Here
from fabula.record.vault.tombstones import KEPT, Tombstones

if TYPE_CHECKING:
    from collections.abc import Callable

    from fabula.kernel.clock import Clock
    from fabula.record.importing.plan import Plan
    from fabula.record.vault.journal import Journal


def read_here(journal: Journal | None) -> Here:
    """Return what the journal holds of what an import could bring; ``None``: there is none yet."""
    if journal is None:
        return Here({}, frozenset(), {}, frozenset())
    return Here(
        dict(journal.rows("select ref, title from titles where kind='session'")),
        frozenset(ref for (ref,) in journal.rows("select ref from pins where kind='session'")),
        dict(journal.rows("select ref, card from cards")),
        frozenset((uid, reader) for uid, reader in journal.rows("select uid, reader from citations")),
        _forgotten(Tombstones.load(journal)),
    )


def _forgotten(tombstones: Tombstones | None) -> Callable[[str], bool]:
    if tombstones is None:
        return lambda _: False
    return lambda ref: tombstones.has(KEPT, ref.encode("utf-8", "surrogatepass"))


def write(journal: Journal, made: Plan, clock: Clock) -> None:
    """Write a plan, each table in one durable transaction; a repetition writes nothing. Raises ``ERR_DISK``."""
    now = clock.now_ms()
    journal.keep("titles", [("session", ref, title, now) for ref, title in made.titles.items()])
    journal.keep("pins", [("session", ref, now) for ref in made.pins])
    journal.keep("cards", [(ref, card, now) for ref, card in made.cards.items()])
    journal.keep(
        "citations",
        [(uid, digest, reader, when or now, when or now) for uid, digest, reader, when in made.citations],
    )
