"""Threads of composed sessions in a list of results: a copy says what its original says, so one of them is enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import apsw

    from fabula.record.search.rank import Ranked


def copied(connection: apsw.Connection, threads: Collection[int]) -> dict[int, int]:
    """Return those of ``threads`` that were copied from another one of them: copy -> original."""
    rows: list[Any] = connection.execute(
        "select o.thread_id, r.thread_id from origins o join records r on r.uid = o.uid"
    ).fetchall()
    listed = set(threads) if rows else set()
    return {copy: original for copy, original in rows if copy != original and copy in listed and original in listed}


def fold(connection: apsw.Connection, ranked: Sequence[Ranked]) -> list[Ranked]:
    """Leave copies out whose original is in the list.

    One stays that answers more of the query: whoever asks by the title of a composed session means that session.
    """
    by_thread = {one.id: one for one in ranked}
    originals = copied(connection, by_thread.keys())
    return [
        one for one in ranked if one.id not in originals or _answered(one) > _answered(by_thread[originals[one.id]])
    ]


def _answered(one: Ranked) -> float:
    """Return the share of the query's weight that a thread holds, or the title of its session says."""
    titles = next((raw for name, _, raw, _ in one.arms if name == "title"), {})
    return max(one.coverage, titles.get(one.id, 0.0))
