"""The newest threads that match: for lists by time, and for filters without words. Nothing is cut before the order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from fabula.record.search.scope import Scope
    from fabula.search.terms import Term


def newest_threads(
    connection: apsw.Connection, terms: Sequence[Term], scope: Scope, *, limit: int, offset: int
) -> tuple[list[int], int]:
    """Return threads in which every term occurs (in one passage, or in what was said), the newest first, and how many.

    Without terms: every thread in scope.
    """
    body = " AND ".join(term.whole for term in terms)
    matching, values = _matching(scope, body)
    condition, more = scope.condition("t.id")
    statement = f"from threads t where {condition}{f' and t.id in ({matching})' if matching else ''}"
    values = [*more, *values]
    rows: list[Any] = connection.execute(
        f"select t.id {statement} order by t.last_time desc nulls last, t.id desc limit ? offset ?",
        (*values, limit, offset),
    ).fetchall()
    (number,) = connection.execute(f"select count(*) {statement}", values).fetchone() or (0,)
    return [int(row[0]) for row in rows], int(number or 0)


def _matching(scope: Scope, body: str) -> tuple[str, list[object]]:
    """Return the query for the ids of threads whose passages or prose match, and its parameters."""
    expression = scope.match(body, prose=False)
    timed, values = scope.condition("p.thread_id", "p")
    if not expression and not scope.needs_passage:
        return "", []
    text = f"select p.thread_id from passages p where {timed}"
    if expression:
        text += " and p.id in (select rowid from passages_fts where passages_fts match ?)"
        values.append(expression)
    if body and not scope.needs_passage:
        text += (
            " union select p.thread_id from thread_parts p where p.id in"
            " (select rowid from threads_fts where threads_fts match ?)"
        )
        values.append(scope.match(body, prose=True))
    return text, values
