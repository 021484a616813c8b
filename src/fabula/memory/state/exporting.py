"""Exporting: what this work tree logged becomes part of the corpus, in a commit of its own.

``.fabula/state/<replica>/<yyyymm>.jsonl`` only grows, and only its replica writes it: machines that pull each other's
commits never conflict, and their entries add up. What is exported leaves the local log; packs that were handed out
stay.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from fabula.memory.state.compacting import entries_of, lock_of, newest_packs, replace_files, set_aside_files
from fabula.memory.state.entries import LOCAL, Entry, encode, entries_in
from fabula.memory.state.sources import TRACKED, files_of
from fabula.memory.state.thinning import thinned
from fabula.memory.state.values import Exported
from fabula.storage.git.message import message_text
from fabula.storage.git.values import ABSENT, Put

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from fabula.memory.state.plane import StatePlane
    from fabula.storage.git.repo import Repo
    from fabula.storage.git.turn import Turn


def export(plane: StatePlane, repo: Repo, at: str, session: str = "") -> Exported:
    """Commit what was logged here since the last export. ``at``: ``1700000000 +0000``.

    Raises ``ERR_LOCKED``, ``ERR_DIRTY`` when a person changed a tracked log, ``ERR_GIT``, ``ERR_READ_ONLY``,
    ``ERR_DISK``.
    """
    replica = plane.logbook.replica()
    with lock_of(plane.root):
        files = set_aside_files(plane.root)
        local = entries_of(files)
        commit, new, written = None, [], []
        with repo.writing() as turn:
            known = _tracked(plane.root) | _own(repo, turn, _months(local), replica)
            new = _new(local, known)
            puts = [_put(repo, turn, replica, month, lines) for month, lines in _by_month(new).items()]
            if puts:
                made = turn.commit(puts, _message(replica, len(new), session), at, ignored_too=True)
                commit = made.id if made is not None else None
                written = [put.path for put in puts]
        replace_files(plane.root, files, [entry for entry in newest_packs(local) if entry.kind in LOCAL])
    shared = [entry for entry in local if entry.kind not in LOCAL and entry.id not in known]
    return Exported(commit, replica, len(new), len(shared) - len(new), tuple(written))


def _tracked(root: Path) -> dict[str, Entry]:
    """Return the entries of all tracked logs in the work tree."""
    files = [path for _, kind, path in files_of(root) if kind == "tracked"]
    return {entry.id: entry for entry in entries_of(files)}


def _own(repo: Repo, turn: Turn, months: Iterable[str], replica: str) -> dict[str, Entry]:
    """Return the entries of this replica's logs as they are at HEAD."""
    logs = (_at_head(repo, turn, _path(replica, month))[1] for month in months)
    return {entry.id: entry for data in logs for entry in entries_in(data)}


def _new(local: list[Entry], known: dict[str, Entry]) -> list[Entry]:
    """Return what of the local log no tracked log has, without readings that add nothing; by time."""
    shared = [entry for entry in local if entry.kind not in LOCAL and entry.id not in known]
    kept = {entry.id for entry in thinned([*shared, *known.values()])}
    return sorted((entry for entry in shared if entry.id in kept), key=lambda entry: entry.order)


def _by_month(entries: Iterable[Entry]) -> dict[str, list[bytes]]:
    months: dict[str, list[bytes]] = {}
    for entry in entries:
        months.setdefault(_month(entry), []).append(encode(entry))
    return months


def _months(entries: Iterable[Entry]) -> set[str]:
    return {_month(entry) for entry in entries}


def _month(entry: Entry) -> str:
    return f"{datetime.fromtimestamp(entry.at // 1000, UTC):%Y%m}"


def _put(repo: Repo, turn: Turn, replica: str, month: str, lines: list[bytes]) -> Put:
    path = _path(replica, month)
    blob, data = _at_head(repo, turn, path)
    if data and not data.endswith(b"\n"):
        data += b"\n"
    return Put(path, data + b"".join(lines), blob)


def _path(replica: str, month: str) -> str:
    return f"{TRACKED}/{replica}/{month}.jsonl"


def _at_head(repo: Repo, turn: Turn, path: str) -> tuple[str, bytes]:
    entry = turn.find(path)
    return (ABSENT, b"") if entry is None else (entry.id, repo.shop.reader.data(entry.id, "blob"))


def _message(replica: str, number: int, session: str) -> str:
    entries = "1 entry" if number == 1 else f"{number} entries"
    trailers = (("Memhtml-Session", session), ("Fabula-Replica", replica))
    return message_text(f"memhtml(state): {entries} of {replica}", "", trailers)
