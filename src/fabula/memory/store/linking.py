"""Relations in the heads of memories: written and taken away, one commit each; saying one again changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.memory.format.edit import add_link, remove_link
from fabula.memory.format.gate import MOST_VALUES
from fabula.memory.format.paths import normalise
from fabula.memory.store.archiving import NOBODY
from fabula.memory.store.drafting import check_links, check_relation
from fabula.memory.store.guards import require_edge
from fabula.memory.store.messages import change_message, check_provenance
from fabula.memory.store.values import Linked
from fabula.storage.git.values import Put

if TYPE_CHECKING:
    from fabula.memory.store.base import Held
    from fabula.memory.store.store import Store, Work
    from fabula.memory.store.values import Provenance


def link(store: Store, source: str, relation: str, target: str, provenance: Provenance = NOBODY) -> Linked:
    """Write a relation into the head of ``source``.

    Raises ``ERR_USAGE`` for a relation that is none, to itself, or between memories of another class; ``ERR_NO_MEMORY``
    for an end that must be there, ``ERR_DIRTY`` where it is not committed yet; ``ERR_MEMORY_FORMAT`` where the head
    cannot hold more; and what a commit raises.
    """
    check_provenance(provenance)
    check_links([(relation, target)])
    target = normalise(target)
    with store.writing() as work:
        held = work.base.memory(source)
        require_edge(work.base, held.path, held.reading.head.type, relation, target)
        data = add_link(held.data, relation, target)
        if data != held.data and len(held.reading.links) >= MOST_VALUES:
            message = f"{held.path} has {MOST_VALUES} relations, and no file may have more"
            raise FabulaError(
                "ERR_MEMORY_FORMAT", message, "take one away first, or relate a whole that both are part of"
            )
        return _linked(work, held, data, ("link", relation, target), provenance)


def unlink(store: Store, source: str, relation: str, target: str, provenance: Provenance = NOBODY) -> Linked:
    """Take a relation out of the head of ``source``; the target need not be there.

    Raises ``ERR_USAGE``, ``ERR_NO_MEMORY``, and what a commit raises.
    """
    check_provenance(provenance)
    check_relation(relation)
    target = normalise(target)
    with store.writing() as work:
        held = work.base.memory(source)
        data = remove_link(held.data, relation, target)
        return _linked(work, held, data, ("unlink", relation, target), provenance)


def _linked(work: Work, held: Held, data: bytes, what: tuple[str, str, str], provenance: Provenance) -> Linked:
    operation, relation, target = what
    committed = None
    if data != held.data:
        message = change_message(operation, f"{held.path} {relation} {target}", provenance)
        committed = work.commit(message, [Put(held.path, data, held.blob)])
    return Linked(
        held.path,
        relation,
        target,
        committed.id if committed is not None else None,
        work.base.commit,
        committed is None,
        tuple(work.notices),
    )
