"""What threads speak about: the facets of the map, counted for a scope or weighed for one thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.kernel.values import frozen
from fabula.search.stopwords import is_stop_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

KINDS = ("operative", "target", "concept", "wikilink", "file")


@frozen
class Facet:
    """A term with the number of threads that have it and how often they say it in all."""

    kind: str
    term: str
    threads: int
    count: int


_FILES = """
  select 'file' as kind, p.path as term, r.thread_id as thread_id, 1 as count
    from touches h join paths p on p.id = h.path_id join records r on r.id = h.record_id
"""


def facets(
    connection: apsw.Connection, *, kinds: Sequence[str], projects: Sequence[int] | None, limit: int
) -> list[Facet]:
    """Return the most frequent facets of each kind: by threads, then by mentions, then by the term."""
    found: list[Facet] = []
    for kind in kinds:
        source = f"({_FILES})" if kind == "file" else "terms"
        where, values = "x.kind = ?", [kind, *(projects or ())]
        if projects is not None:
            where += f" and s.project_id in ({','.join('?' * len(projects))})"
        rows: list[Any] = connection.execute(
            f"select x.term, count(distinct x.thread_id) as threads, sum(x.count) from {source} x"
            " join threads t on t.id = x.thread_id join sessions s on s.id = t.session_id"
            f" where {where} group by x.term order by threads desc, 3 desc, x.term limit ?",
            (*values, limit),
        ).fetchall()
        found += [Facet(kind, term, threads, count) for term, threads, count in rows]
    return found


def telling_terms(connection: apsw.Connection, thread: int, limit: int) -> tuple[str, ...]:
    """Return the terms that tell a thread from others: by mentions and rarity, the most telling first."""
    rows = connection.execute(
        "select l.term, t.count, (select count(*) from thread_terms o where o.term_id = t.term_id)"
        " from thread_terms t join lexicon l on l.id = t.term_id"
        " where t.thread_id = ? and l.kind in ('concept', 'target')",
        (thread,),
    )
    weighed = [
        (-(1 + count) / (1 + holders), str(term)) for term, count, holders in rows if not is_stop_word(str(term))
    ]
    return tuple(dict.fromkeys(term for _, term in sorted(weighed)))[:limit]
