"""Questions to a state that was brought up to date. Reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.memory.standing.reinforcement import State, key_of
from fabula.memory.state.entries import CORRECTED, CORROBORATED, CORROBORATED_NAME, MOVED, WROTE
from fabula.memory.state.folding import Link, corroborated
from fabula.memory.state.names import LAST, Names
from fabula.memory.state.updating import entries_about, entries_of_kind, family_of
from fabula.memory.state.values import Pack

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from fabula.memory.state.folding import Corroboration

_STATE = "accesses, reinforcements, outcome, last_access, last_reinforced, last_at, last_id"
_LINK = "session, path, action, first, last, times"
_AT_ONCE = 500  # paths that one statement names


def states(connection: apsw.Connection, paths: Iterable[str]) -> dict[str, State]:
    """Return the states of some memories by path; one that nobody used is left out."""
    asked = {key_of(path): path for path in paths}
    keys = list(asked)
    found: dict[str, State] = {}
    for first in range(0, len(keys), _AT_ONCE):
        part = keys[first : first + _AT_ONCE]
        question = f"select path, {_STATE} from states where path in ({','.join('?' * len(part))})"
        found |= {asked[str(path)]: State(*rest) for path, *rest in connection.execute(question, part)}
    return found


def links_of(connection: apsw.Connection, session: str) -> list[Link]:
    """Return what a session did, by time."""
    question = f"select {_LINK} from links where session = ? order by first, path, action"
    return [Link(*row) for row in connection.execute(question, (session,))]


def sessions_of(connection: apsw.Connection, path: str) -> list[Link]:
    """Return which sessions had to do with a memory, by time."""
    question = f"select {_LINK} from links where path = ? order by first, session, action"
    return [Link(*row) for row in connection.execute(question, (key_of(path),))]


def sessions_named(connection: apsw.Connection, beginning: str) -> list[str]:
    """Return the sessions whose ids begin so, a hundred at most."""
    question = "select distinct session from links where session >= ? and session < ? limit 100"
    return [str(one) for (one,) in connection.execute(question, (beginning, beginning + "\U0010ffff"))]


def where(connection: apsw.Connection, path: str) -> str:
    """Return where the memory that last had a path is now, as far as the logs know."""
    return _names(connection, key_of(path)).now(key_of(path), LAST)


def packs_with(connection: apsw.Connection, path: str) -> list[Pack]:
    """Return the packs that handed a memory out, also under names that it had before; newest first."""
    path = key_of(path)
    names = _names(connection, path)
    family = sorted(family_of(connection, path))
    rows = connection.execute(
        "select h.path, p.id, p.at, p.reader, p.session, p.query from handed h join packs p on p.id = h.pack"
        f" where h.path in ({','.join('?' * len(family))}) order by p.at desc, p.id",
        family,
    )
    meant = {pack: (at, said) for name, pack, at, *said in rows if names.now(name, (at, pack)) == path}
    return [
        Pack(pack, at, reader, session, query, _paths_of(connection, pack))
        for pack, (at, (reader, session, query)) in meant.items()
    ]


def _paths_of(connection: apsw.Connection, pack: str) -> tuple[str, ...]:
    rows = connection.execute("select path from handed where pack = ? order by place", (pack,))
    return tuple(str(path) for (path,) in rows)


def corroborations(connection: apsw.Connection) -> list[Corroboration]:
    """Return what was said of guesses, by the paths of now."""
    return corroborated(entries_of_kind(connection, CORROBORATED, CORROBORATED_NAME, MOVED, WROTE, CORRECTED))


def _names(connection: apsw.Connection, path: str) -> Names:
    family = family_of(connection, path)
    return Names(entry for one in family for entry in entries_about(connection, one))
