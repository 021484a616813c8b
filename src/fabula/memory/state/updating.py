"""Bringing ``state.db`` up to date with the logs: what is new is taken in, what it touches is folded anew.

A memory's state is a function of the entries of its family of paths (those that moves join), so it is enough to fold
the families that new entries name. A tracked log that is not what it was (another machine left lines out) ends that:
then everything is folded anew, which gives the same.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from fabula.memory.standing.reinforcement import Baseline
from fabula.memory.state.entries import CORROBORATED, CORROBORATED_NAME, HANDED, Entry, entries_in
from fabula.memory.state.folding import folded
from fabula.memory.state.sources import LOG, Seen, files_of, news_of
from fabula.memory.state.thinning import whole_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    import apsw

    from fabula.memory.state.sources import News

PACKS_KEPT = 10_000
_AT_ONCE = 500
_TABLES = ("sources", "entries", "baselines", "states", "links", "handed", "packs")
ENTRY_COLUMNS = "id, at, kind, path, target, session, relation, verdict"


def is_current(connection: apsw.Connection, root: Path) -> bool:
    """Say whether nothing is new; a few stats."""
    seen = _seen(connection)
    files = list(files_of(root))
    if {name for name, _, _ in files} != set(seen):
        return False
    return all(_is_as_seen(path, seen[name]) for name, _, path in files)


def _is_as_seen(path: Path, seen: Seen) -> bool:
    try:
        stat = path.stat(follow_symlinks=False)
    except OSError:
        return False
    return (stat.st_size, stat.st_mtime_ns, stat.st_ino) == (seen.size, seen.mtime_ns, seen.file)


def update(connection: apsw.Connection, root: Path) -> int:
    """Take in what is new, inside of a transaction of the caller; return how many entries that were."""
    seen = _seen(connection)
    files = list(files_of(root))
    gone = [name for name in seen if name not in {name for name, _, _ in files}]
    news = [found for name, kind, path in files if (found := news_of(name, kind, path, seen.get(name))) is not None]
    is_lost = any(one.is_rewritten and one.kind == "tracked" for one in news)
    if is_lost or any(not _is_local(name) for name in gone):
        return fold_anew(connection, root)
    connection.executemany("delete from sources where name = ?", [(name,) for name in gone])
    return _take_in(connection, news)


def fold_anew(connection: apsw.Connection, root: Path) -> int:
    """Forget what was folded and fold all logs, inside of a transaction of the caller; return how many entries."""
    for table in _TABLES:
        connection.execute(f"delete from {table}")
    news = [found for name, kind, path in files_of(root) if (found := news_of(name, kind, path, None)) is not None]
    return _take_in(connection, news)


def _is_local(name: str) -> bool:
    return name.startswith(f"{LOG}/")


def _take_in(connection: apsw.Connection, news: Sequence[News]) -> int:
    touched: set[str] = set()
    new = 0
    for one in news:
        if one.kind == "sidecar":
            touched |= _take_baselines(connection, one.data)
        else:
            for some in _at_a_time(entries_in(one.data)):
                kept = _take_entries(connection, some)
                new += len(kept)
                touched |= {path for entry in kept for path in (entry.path, entry.to) if path}
        connection.execute(
            "insert or replace into sources values (?,?,?,?,?,?)",
            (one.name, one.seen.size, one.seen.mtime_ns, one.seen.file, one.seen.offset, one.seen.digest),
        )
    _drop_old_packs(connection)
    _fold_families(connection, touched)
    return new


def _at_a_time(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """Yield entries in lists that one statement can name."""
    rest = iter(entries)
    while some := list(islice(rest, _AT_ONCE)):
        yield some


def _take_entries(connection: apsw.Connection, some: Sequence[Entry]) -> list[Entry]:
    """Keep entries; return what is new. Of two with one id the smaller one is kept, whichever comes first."""
    for entry in some:
        if entry.kind == HANDED:
            _take_pack(connection, entry)
    wanted: dict[str, Entry] = {}
    for entry in some:
        if entry.kind != HANDED and (entry.id not in wanted or whole_order(entry) < whole_order(wanted[entry.id])):
            wanted[entry.id] = entry
    question = f"select {ENTRY_COLUMNS} from entries where id in ({','.join('?' * len(wanted))})"
    known = {str(row[0]): entry_of(row) for row in connection.execute(question, list(wanted))}
    new = [one for one in wanted.values() if one.id not in known or whole_order(one) < whole_order(known[one.id])]
    connection.executemany("insert or replace into entries values (?,?,?,?,?,?,?,?)", map(_row, new))
    replaced = [known[one.id] for one in new if one.id in known]
    return new + replaced  # what another entry of its id was about is folded anew as well


def _row(entry: Entry) -> tuple[object, ...]:
    return (
        entry.id, entry.at, entry.kind, entry.path, entry.to, entry.session, entry.relation, entry.verdict
    )  # fmt: skip


def _take_pack(connection: apsw.Connection, entry: Entry) -> None:
    row = (entry.id, entry.at, entry.reader, entry.session, entry.query)
    connection.execute("insert or ignore into packs values (?,?,?,?,?)", row)
    if connection.changes():
        places = [(path, entry.id, place) for place, path in enumerate(entry.paths) if path]
        connection.executemany("insert or ignore into handed values (?,?,?)", places)


def _drop_old_packs(connection: apsw.Connection) -> None:
    old = "select id from packs order by at desc, id limit -1 offset ?"
    connection.execute(f"delete from handed where pack in ({old})", (PACKS_KEPT,))
    connection.execute(f"delete from packs where id in ({old})", (PACKS_KEPT,))


def _take_baselines(connection: apsw.Connection, data: bytes) -> set[str]:
    """Replace what memhtml counted; return the paths that it is about, those of before too."""
    from fabula.memory.standing.sidecar import read_sidecar

    touched = {str(path) for (path,) in connection.execute("select distinct path from baselines")}
    connection.execute("delete from baselines")
    account = read_sidecar(data.decode("utf-8", "replace"))
    rows = [
        (one.path, one.accesses, one.reinforcements, one.outcome, one.last_access, one.last_reinforced, one.at)
        for one in account.baselines
    ]
    connection.executemany("insert into baselines values (?,?,?,?,?,?,?)", rows)
    return touched | {one.path for one in account.baselines}


def _fold_families(connection: apsw.Connection, touched: Iterable[str]) -> None:
    left = set(touched)
    while left:
        family = family_of(connection, left.pop())
        left -= family
        _fold_family(connection, sorted(family))


def _fold_family(connection: apsw.Connection, family: Sequence[str]) -> None:
    entries = [entry for path in family for entry in entries_about(connection, path)]
    found = folded(entries, [one for path in family for one in _baselines(connection, path)])
    for path in family:
        connection.execute("delete from states where path = ?", (path,))
        connection.execute("delete from links where path = ?", (path,))
    states = [
        (
            path, one.accesses, one.reinforcements, one.outcome, one.last_access, one.last_reinforced, one.last_at,
            one.last_id,
        )
        for path, one in found.states.items()
    ]  # fmt: skip
    connection.executemany("insert into states values (?,?,?,?,?,?,?,?)", states)
    links = [(one.session, one.path, one.action, one.first, one.last, one.times) for one in found.links]
    connection.executemany("insert into links values (?,?,?,?,?,?)", links)


def family_of(connection: apsw.Connection, path: str) -> set[str]:
    """Return every path that moves join to one, itself included."""
    found, ahead = {path}, [path]
    question = (
        "select target from entries where path = ?1 and kind = 'moved'"
        " union select path from entries where target = ?1 and kind = 'moved'"
    )
    while ahead:
        new = {str(other) for (other,) in connection.execute(question, (ahead.pop(),))} - found
        found |= new
        ahead += new
    return found


def entries_about(connection: apsw.Connection, path: str) -> list[Entry]:
    """Return the entries that name a path as what they are about, guesses apart."""
    rows = connection.execute(f"select {ENTRY_COLUMNS} from entries where path = ?", (path,))
    return [entry_of(row) for row in rows if row[2] not in (CORROBORATED, CORROBORATED_NAME)]


def entries_of_kind(connection: apsw.Connection, *kinds: str) -> list[Entry]:
    """Return all entries of some kinds."""
    marks = ",".join("?" * len(kinds))
    rows = connection.execute(f"select {ENTRY_COLUMNS} from entries where kind in ({marks})", kinds)
    return [entry_of(row) for row in rows]


def entry_of(row: Sequence[object]) -> Entry:
    """Return an entry as its row holds it."""
    uid, at, kind, path, target, session, relation, verdict = row
    return Entry(str(uid), int(str(at)), str(kind), str(path), str(target), str(session), str(relation), str(verdict))


def _baselines(connection: apsw.Connection, path: str) -> list[Baseline]:
    question = (
        "select path, accesses, reinforcements, outcome, last_access, last_reinforced, at from baselines where path=?"
    )
    return [Baseline(*row) for row in connection.execute(question, (path,))]


def _seen(connection: apsw.Connection) -> dict[str, Seen]:
    rows = connection.execute("select name, size, mtime_ns, file, offset, digest from sources")
    return {str(name): Seen(*rest) for name, *rest in rows}
