"""Taking a memory out of use, and bringing it back. Both are moves: nothing is deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.memory.format.paths import is_indexed, normalise, original_path, target_of
from fabula.memory.format.vocabulary import relation_of
from fabula.memory.store.drafting import check_new_path
from fabula.memory.store.messages import change_message, check_provenance
from fabula.memory.store.placing import Paths
from fabula.memory.store.stamps import archived_bytes, unarchived_bytes
from fabula.memory.store.values import Archived, Provenance, Unarchived
from fabula.storage.git.values import Move

if TYPE_CHECKING:
    from fabula.memory.store.base import Base, Held
    from fabula.memory.store.store import Store, Work

NOBODY = Provenance()


def archive(
    store: Store, path: str, reason: str, provenance: Provenance = NOBODY, *, allow_secrets: bool = False
) -> Archived:
    """Move a memory to the archive of this year.

    Raises ``ERR_NO_MEMORY``, ``ERR_MEMORY_FORMAT``, ``ERR_SECRET`` for a reason that holds one,
    ``ERR_WRITE_CONFLICT`` for what is archived already, and what a commit raises.
    """
    check_provenance(provenance)
    store.refuse_secrets([reason], is_allowed=allow_secrets)
    with store.writing() as work:
        held = work.base.memory(path)
        require_active(held)
        there = Paths(work.base).in_archive(held.path, work.moment)
        data = archived_bytes(held.data, held.path, work.moment.text, reason)
        subject = f"{held.path} — {reason}" if reason.strip() else held.path
        message = change_message("archive", subject, provenance, reason)
        committed = work.commit(message, [Move(held.path, there, data, held.blob)])
        return Archived(
            held.path,
            there,
            committed.id if committed is not None else None,
            work.base.commit,
            held.reading.content_hash,
            ((held.path, there),),
            tuple(work.notices),
        )


def unarchive(
    store: Store, path: str, reason: str = "", to: str | None = None, provenance: Provenance = NOBODY
) -> Unarchived:
    """Bring a memory back from the archive: to where it was, or ``to`` another path.

    Raises ``ERR_WRITE_CONFLICT`` where its place is taken (:class:`Occupied`), where another memory states its fact, or
    where a successor of it is in use; ``ERR_PATH`` for a path outside of the archive; else as :func:`archive`.
    """
    check_provenance(provenance)
    if to is not None:
        check_new_path(to)
    store.refuse_secrets([reason])
    with store.writing() as work:
        held = work.base.memory(path)
        move = move_back(work, held, to)
        message = change_message("unarchive", move.target, provenance, reason)
        committed = work.commit(message, [move])
        return Unarchived(
            held.path,
            move.target,
            committed.id if committed is not None else None,
            work.base.commit,
            held.reading.content_hash,
            ((held.path, move.target),),
            tuple(work.notices),
        )


def move_back(work: Work, held: Held, to: str | None = None) -> Move:
    """Return the move that brings a memory back. Raises as :func:`unarchive`."""
    origin = origin_of(held)
    if origin is None:
        raise FabulaError("ERR_PATH", f"{held.path} is not in the archive", "fabula memory list --bucket archive")
    if to is None and not is_indexed(origin):
        raise FabulaError("ERR_PATH", f"{held.path}: no memory can lie at {origin}", "name another place with --to")
    stamped = _stamped_until(work.base, held)
    holder = None if held.reading.head.type == "task" else work.known.holder_of_fact(held.reading.fact_hash)
    if holder is not None and holder != held.path:
        message = f"{held.path}: {holder} states this already"
        raise FabulaError("ERR_WRITE_CONFLICT", message, f"fabula memory read {holder}")
    target = Paths(work.base).exactly(normalise(to) if to is not None else origin)
    return Move(held.path, target, unarchived_bytes(held.data, work.moment.text, stamped), held.blob)


def origin_of(held: Held) -> str | None:
    """Return where an archived memory was: the path decides, not what its head says of its state."""
    if not held.path.startswith("archive/"):
        return None
    said, mirrored = normalise(held.reading.head.origin or ""), original_path(held.path)
    is_place = is_indexed(said) and not said.startswith("archive/")  # a head may say anything
    return said if is_place else mirrored


def require_active(held: Held) -> None:
    """Raise ``ERR_WRITE_CONFLICT`` for a memory in the archive, naming its successor where it has one."""
    if not held.path.startswith("archive/"):
        return
    successor = held.reading.head.superseded_by
    if successor:
        message = f"{held.path} is in the archive: {normalise(successor)} took its place"
        raise FabulaError("ERR_WRITE_CONFLICT", message, f"fabula memory read {normalise(successor)}")
    raise FabulaError("ERR_WRITE_CONFLICT", f"{held.path} is in the archive", f"fabula memory unarchive {held.path}")


def _stamped_until(base: Base, held: Held) -> str | None:
    """Return the end of a memory's validity where its successor stamped it, and that one is no longer in use.

    Raises ``ERR_WRITE_CONFLICT`` while it is: two memories would claim to be current.
    """
    head = held.reading.head
    successor = _successor(base, held, normalise(head.superseded_by)) if head.superseded_by else None
    if successor is None:
        return None
    if successor.path.startswith("archive/"):
        return head.valid_until if head.valid_until == successor.reading.head.valid_from else None
    message = f"{held.path}: {successor.path} took its place and is in use"
    raise FabulaError("ERR_WRITE_CONFLICT", message, f"fabula memory archive {successor.path} --reason 'not so'")


def _successor(base: Base, held: Held, path: str) -> Held | None:
    """Return the memory that names this one as superseded: at its path, or where it went in the archive since."""
    years = sorted(base.names_in("archive"), key=lambda year: (year.lstrip("0"), len(year)), reverse=True)
    for place in (path, *(f"archive/{year}/{path}" for year in years)):
        found = base.file(place)
        if found is not None and any(
            relation_of(link.rel) == "supersedes" and target_of(link.href) == held.path for link in found.reading.links
        ):
            return found
    return None
