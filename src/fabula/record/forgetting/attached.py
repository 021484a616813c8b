"""What people and agents attached to the record and what goes with a forgetting: titles and cards that speak of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fabula.record.vault.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fabula.record.forgetting.plan import Plan

_TOKEN = re.compile(r"[\w-]{6,}")


def attached(folder: Path, plan: Plan) -> list[tuple[str, str]]:
    """Return (kind, ref) of what goes: of sessions and threads that go as a whole, and what holds the pattern.

    Cards also go that name such a session or thread, or a record that goes. Raises ``ERR_DATABASE``.
    """
    journal = Journal.open(folder, read_only=True)
    try:
        there = set(journal.rows("select kind, ref from titles union select kind, ref from pins"))
        return list(dict.fromkeys([*(one for one in plan.whole if one in there), *_speaking(journal, plan)]))
    finally:
        journal.close()


def _speaking(journal: Journal, plan: Plan) -> Iterator[tuple[str, str]]:
    pattern = plan.wanted.pattern
    ids = plan.uids | {ref for _, ref in plan.whole}
    for kind, ref, title in journal.rows("select kind, ref, title from titles"):
        if pattern is not None and pattern.search(title):
            yield kind, ref
    for ref, card in journal.each("select ref, card from cards"):
        if (pattern is not None and pattern.search(card)) or not ids.isdisjoint([ref, *_TOKEN.findall(card)]):
            yield "card", ref
