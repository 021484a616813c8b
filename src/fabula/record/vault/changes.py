"""Changes of the journal's rows of truth, as values: what is written into the journal is also written into its copy.

A change is ``(op, table, rows)``. Rows to put are whole, marks included; rows to drop are keys. Played in order on
empty tables, the changes of a vault give its truth again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

PUT = "put"  # a new row, or one that replaces the row of the same key
KEEP = "keep"  # a new row, unless there is one of the same key
DROP = "drop"  # the row of this key goes
Change = tuple[str, str, "Sequence[Sequence[Any]]"]

#: table -> its columns, in order. Of loose records without their id, which tells nothing but the order.
COLUMNS: dict[str, tuple[str, ...]] = {
    "meta": ("key", "value", "mark"),
    "sources": (
        "id", "host", "path", "kind", "session", "first_seen", "last_seen", "size", "vanished_at", "parent", "mark",
    ),
    "generations": (
        "id", "source_id", "number", "provenance", "immutable", "length", "tail_digest", "tail", "begun_at",
        "sealed_at", "mark",
    ),
    "shared": ("name", "layout", "digests", "mark"),
    "segments": ("generation_id", "offset", "length", "layout", "digests", "mark"),
    "loose": ("digest", "class", "data"),
    "tombstones": ("print", "kind", "forgotten_at", "mark"),
    "pins": ("kind", "ref", "pinned_at", "mark"),
    "titles": ("kind", "ref", "title", "given_at", "mark"),
    "cards": ("ref", "card", "made_at", "mark"),
    "citations": ("uid", "digest", "reader", "first_at", "last_at", "mark"),
}  # fmt: skip
_KEYS: dict[str, tuple[str, ...]] = {"pins": ("kind", "ref"), "titles": ("kind", "ref"), "loose": ("digest",)}
_VERBS = {PUT: "insert or replace", KEEP: "insert or ignore"}


def statement(op: str, table: str) -> str:
    """Return the SQL of a change. Raises ``ValueError`` for an operation or a table that there is not."""
    if op == DROP and table in _KEYS:
        return f"delete from {table} where {' and '.join(f'{key}=?' for key in _KEYS[table])}"
    if op not in _VERBS or table not in COLUMNS:
        raise ValueError(f"no change {op} of {table}")
    columns = COLUMNS[table]
    return f"{_VERBS[op]} into {table}({', '.join(columns)}) values({','.join('?' * len(columns))})"


def apply(db: apsw.Connection, changes: Iterable[Change]) -> None:
    """Write changes into a journal; the caller holds the transaction. Raises what SQLite raises, ``ValueError``."""
    for op, table, rows in changes:
        if rows:
            db.executemany(statement(op, table), rows)
