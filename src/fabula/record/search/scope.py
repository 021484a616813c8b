"""Where a search looks: projects, filters and times, as conditions that act before any cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.kernel.values import frozen
from fabula.search.terms import terms_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

    from fabula.search.query import Filter, Query

#: The column of ``passages_fts`` that holds what records of a kind say; other kinds are in ``other``.
COLUMN_OF_KIND = {
    "prompt": "prompt", "task": "prompt", "reply": "reply", "thought": "reply", "call": "call", "result": "result",
}  # fmt: skip

_NOWHERE = "scope : nowhere"  # a token that no text has
ANYTHING = "scope : h *"  # every text has the token of its host


@frozen
class Scope:
    """Conditions on passages and on threads' prose.

    ``tokens`` are expressions over the column ``scope``, all of which must hold; ``passages`` are further ones that
    only passages can tell (kinds, tools). ``threads`` are SQL conditions on ``{t}``, a thread's id, with their
    parameters; times are ms and are compared with a passage's. ``kinds`` are the kinds a found record may have.
    """

    tokens: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    threads: tuple[tuple[str, tuple[object, ...]], ...] = ()
    since: int | None = None
    until: int | None = None
    kinds: tuple[str, ...] = ()

    @property
    def needs_passage(self) -> bool:
        """Whether only a passage can tell that a thread is in scope."""
        return bool(self.passages) or self.since is not None or self.until is not None

    @property
    def is_everything(self) -> bool:
        """Whether nothing is left out."""
        return not (self.tokens or self.excluded or self.threads or self.needs_passage)

    def match(self, body: str, *, prose: bool) -> str:
        """Return the expression for ``body`` inside this scope; ``prose`` leaves out what only passages tell.

        Without a body it is the scope alone; of a scope without tokens that is the empty text.
        """
        if self.kinds and body and not prose:
            columns = sorted({COLUMN_OF_KIND.get(kind, "other") for kind in self.kinds})
            body = f"{{{' '.join(columns)}}} : ({body})"
        wanted = [body, *self.tokens, *(() if prose else self.passages)]
        whole = " AND ".join(f"({expression})" for expression in wanted if expression)
        if not self.excluded:
            return whole
        return f"({whole or ANYTHING}) NOT ({' OR '.join(self.excluded)})"

    @property
    def told_by_index(self) -> bool:
        """Whether the index alone tells what is in scope, for prose and passages alike."""
        return not (self.threads or self.needs_passage)

    def listed(self, expression: str, *, prose: bool) -> str:
        """Return the expression that lists the texts with ``expression``: in this scope, where the index tells it."""
        return self.match(expression, prose=prose) if self.told_by_index and not self.is_everything else expression

    def condition(self, thread: str, passage: str = "") -> tuple[str, list[object]]:
        """Return an SQL condition over a thread's id and, when named, a passage's times; with its parameters."""
        texts = ["1"]
        values: list[object] = []
        for text, parameters in self.threads:
            texts.append(text.replace("{t}", thread))
            values += parameters
        if passage and self.since is not None:
            texts.append(f"{passage}.last_time >= ?")
            values.append(self.since)
        if passage and self.until is not None:
            texts.append(f"{passage}.first_time < ?")
            values.append(self.until)
        return " and ".join(texts), values


def scope_for(connection: apsw.Connection, query: Query, projects: Sequence[int] | None) -> Scope:
    """Return the scope of a query. ``projects`` are row ids of the map (``None``: all); a ``project:`` filter rules."""
    tokens: list[str] = []
    passages: list[str] = []
    excluded: list[str] = []
    threads: list[tuple[str, tuple[object, ...]]] = []
    kinds: list[str] = []
    named = [one for one in query.filters if one.key == "project" and not one.excluded]
    if projects is not None and not named:
        tokens.append(_scope_tokens(f"p{project}" for project in projects))
    for key in dict.fromkeys((one.key, one.excluded) for one in query.filters):
        same = [one for one in query.filters if (one.key, one.excluded) == key]
        expression = _expression(connection, same)
        if expression is None:
            threads.append(_thread_condition(same))
        elif same[0].excluded:
            excluded.append(expression)
        elif same[0].key in {"kind", "tool"}:
            passages.append(expression)
            kinds += [one.value for one in same if one.key == "kind"]
        else:
            tokens.append(expression)
    if query.excluded:
        threads.append(_without(query))
    return Scope(
        tuple(tokens), tuple(passages), tuple(excluded), tuple(threads), query.since, query.until, tuple(kinds)
    )


def _scope_tokens(tokens: Iterable[str]) -> str:
    found = [f'"{token}"' for token in tokens]
    return f"scope : ({' OR '.join(found)})" if found else _NOWHERE


def _expression(connection: apsw.Connection, filters: list[Filter]) -> str | None:
    """Return filters of one key, any of which suffices, as an expression; ``None`` when only SQL can say it."""
    key = filters[0].key
    values = [one.value for one in filters]
    if key == "project":
        return _scope_tokens([f"p{row}" for value in values for row in projects_named(connection, value)])
    if key == "session":
        return _scope_tokens([f"s{row}" for value in values for row in _sessions_named(connection, value)])
    if key == "host":
        return _scope_tokens(["h" + "".join(filter(str.isalnum, value.lower())) for value in values])
    if key == "kind":
        return _scope_tokens([f"k{value}" for value in values])
    if key == "tool":
        from fabula.record.ingest.passages import tool_token

        return _scope_tokens([tool_token(value) for value in values])
    return None


def projects_named(connection: apsw.Connection, text: str) -> list[int]:
    """Return the projects that a person may mean: those of this very name or key, else those that contain it."""
    rows: list[Any] = connection.execute("select id, key, label from projects order by id").fetchall()
    name = text.casefold()
    exact = [row for row, key, label in rows if name in {str(label).casefold(), str(key).casefold()}]
    return exact or [row for row, key, label in rows if name in f"{key}\n{label}".casefold()]


def _sessions_named(connection: apsw.Connection, text: str) -> list[int]:
    """Return the sessions whose id begins with ``text``, and all that they spawned."""
    from fabula.record.reading.identify import packed_range

    low, high = packed_range(text) or (b"", b"")
    statement = """
        with recursive family(id) as (
          select id from sessions where (uid >= ?1 and uid < ?2) or (uid >= ?3 and uid < ?4)
          union select c.id from sessions c join family f on c.parent_id = f.id
           where c.kind in ('subagent', 'compaction'))
        select id from family order by id"""
    found: list[Any] = connection.execute(statement, (low, high, text, text + "\U0010ffff")).fetchall()
    return [int(row[0]) for row in found]


def _thread_condition(filters: list[Filter]) -> tuple[str, tuple[object, ...]]:
    """Return the SQL condition of filters on files and facets of a thread."""
    operator = "not in" if filters[0].excluded else "in"
    parts: list[str] = []
    values: list[object] = []
    for one in filters:
        if one.key == "file":
            parts.append(
                "select r.thread_id from touches h join records r on r.id = h.record_id where h.path_id in"
                " (select id from paths where path = ? or path like ? escape '\\')"
            )
            values += [one.value, f"%/{_like(one.value.lstrip('/'))}"]
        else:
            parts.append("select thread_id from terms where kind = ? and term = ? collate nocase")
            values += [one.key, one.value]
    return f"{{t}} {operator} ({' union '.join(parts)})", tuple(values)


def _without(query: Query) -> tuple[str, tuple[object, ...]]:
    """Leave out the threads that say an excluded word anywhere."""
    expression = " OR ".join(form for term in terms_of(query.excluded) for form in term.forms)
    holders = "select thread_id from passages where id in (select rowid from passages_fts where passages_fts match ?)"
    return f"{{t}} not in ({holders})", (expression,)


def _like(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
