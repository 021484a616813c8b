"""One memory takes the place of another: the loser goes to the archive, each names the other, their times abut."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.memory.format.times import in_written_form
from fabula.memory.store.archiving import NOBODY, require_active
from fabula.memory.store.messages import change_message, check_provenance
from fabula.memory.store.placing import Paths
from fabula.memory.store.stamps import archived_bytes, loser_bytes, winner_bytes
from fabula.memory.store.values import Pair, Superseded
from fabula.storage.git.values import Move, Put

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fabula.memory.format.reader import Reading
    from fabula.memory.store.base import Base, Held
    from fabula.memory.store.moment import Moment
    from fabula.memory.store.store import Store
    from fabula.memory.store.values import Provenance
    from fabula.storage.git.values import Change


def supersede(store: Store, pairs: Sequence[Pair], reason: str = "", provenance: Provenance = NOBODY) -> Superseded:
    """Let memories take the place of others, all in one commit; of no pairs none is made.

    A winner may be a loser of another pair (a chain). Raises ``ERR_USAGE`` for a memory that would lose twice, or to
    itself; else as :func:`fabula.memory.store.archiving.archive`.
    """
    check_provenance(provenance)
    store.refuse_secrets([reason])
    with store.writing() as work:
        if not pairs:
            return Superseded(None, work.base.commit)
        held = _read(work.base, pairs)
        order = [Pair(held[pair.winner].path, held[pair.loser].path) for pair in pairs]
        files = {one.path: one for one in held.values()}
        _check(order, files)
        paths = Paths(work.base)
        archived = {pair.loser: paths.in_archive(pair.loser, work.moment) for pair in order}
        changes = changes_of(order, files, archived, work.moment, reason)
        message = change_message("consolidate", _subject(order), provenance, reason)
        committed = work.commit(message, changes)
        moves = tuple(archived.items())
        return Superseded(
            committed.id if committed is not None else None, work.base.commit, moves, moves, tuple(work.notices)
        )


def changes_of(
    pairs: Sequence[Pair], files: Mapping[str, Held], archived: Mapping[str, str], moment: Moment, reason: str
) -> list[Change]:
    """Return the changes that some pairs come to. ``archived``: loser -> where it goes."""
    data = {path: held.data for path, held in files.items()}
    for pair in pairs:
        since = valid_from_of(files[pair.winner].reading, moment)
        winner = archived.get(pair.winner, pair.winner)
        data[pair.winner] = winner_bytes(data[pair.winner], archived[pair.loser], since)
        data[pair.loser] = loser_bytes(data[pair.loser], winner, since)
    changes: list[Change] = []
    for path, held in files.items():
        if path in archived:
            stamped = archived_bytes(data[path], path, moment.text, reason)
            changes.append(Move(path, archived[path], stamped, held.blob))
        else:
            changes.append(Put(path, data[path], held.blob))
    return changes


def loser_move(loser: Held, there: str, winner: str, since: str, moment: Moment, reason: str = "") -> Move:
    """Return the move of a memory to its place in the archive, stamped with who takes its place since when."""
    data = archived_bytes(loser_bytes(loser.data, winner, since), loser.path, moment.text, reason)
    return Move(loser.path, there, data, loser.blob)


def valid_from_of(reading: Reading, moment: Moment) -> str:
    """Return when a fact became true: as its head says, else the first time that it speaks of, else now."""
    stated = reading.head.valid_from or reading.content.event_at
    return (in_written_form(stated) if stated else None) or moment.text


def _read(base: Base, pairs: Sequence[Pair]) -> dict[str, Held]:
    """Return the memories of all pairs by the names they were given; every one is there before anything is done."""
    names = dict.fromkeys(name for pair in pairs for name in (pair.winner, pair.loser))
    held = {name: base.memory(name) for name in names}
    for one in held.values():
        require_active(one)
    return held


def _check(pairs: Sequence[Pair], files: Mapping[str, Held]) -> None:
    successor: dict[str, str] = {}
    for pair in pairs:
        if pair.loser in successor:
            raise FabulaError("ERR_USAGE", f"{pair.loser} would be superseded twice", "name it in one pair")
        if (files[pair.winner].reading.head.type == "task") != (files[pair.loser].reading.head.type == "task"):
            raise FabulaError("ERR_USAGE", f"{pair.winner} and {pair.loser}: a task does not supersede what is known")
        successor[pair.loser] = pair.winner
    for start in successor:
        at = start
        for _ in successor:
            at = successor.get(at, "")
            if at == start:
                raise FabulaError("ERR_USAGE", f"{start} would supersede itself", "leave one of the pairs out")


def _subject(pairs: Sequence[Pair]) -> str:
    if len(pairs) == 1:
        return f"{pairs[0].winner} supersedes {pairs[0].loser}"
    return f"{len(pairs)} memories superseded"
