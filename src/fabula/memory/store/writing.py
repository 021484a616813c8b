"""Writing one memory: gate, then whether it is known, then a free path, then one commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import replace
from fabula.memory.format.paths import normalise
from fabula.memory.store.drafting import Prepared, prepared, prepared_document
from fabula.memory.store.guards import require_ends
from fabula.memory.store.messages import change_message
from fabula.memory.store.placing import Paths
from fabula.memory.store.values import NewMemory, Occupied, Written
from fabula.storage.git.values import Put

if TYPE_CHECKING:
    from fabula.memory.store.base import Base, Held
    from fabula.memory.store.store import Store, Work


def write(store: Store, new: NewMemory) -> Written:
    """Write one memory; one that states a fact that is known already is not written again. Tasks always are.

    Raises ``ERR_USAGE``, ``ERR_PATH``, ``ERR_MEMORY_FORMAT`` for what cannot be written, ``ERR_SECRET``,
    :class:`Occupied` where the named path is taken or holds something else than ``if_hash``, ``ERR_NO_MEMORY`` for a
    relation to what is not there, and what a commit raises (``ERR_LOCKED``, ``ERR_DIRTY``, ``ERR_GIT``, ``ERR_DISK``).
    """
    moment = store.moment()
    file = prepared(new, moment)
    store.refuse_secrets([*file.texts, new.path or ""], is_allowed=new.allow_secrets)
    with store.writing(moment) as work:
        replaced = replaced_file(work.base, new)
        holder = known_fact(work, new, file.fact_hash)
        if holder is not None and (replaced is None or holder != replaced.path):
            return Written(
                holder, None, work.base.commit, file.content_hash, file.fact_hash, created=False, deduped=True,
                existing=holder,
            )  # fmt: skip
        require_ends(work.base, new)
        if replaced is not None:
            file = as_replacement(file, replaced)
            put = Put(replaced.path, file.data, replaced.blob)
            return _written(work, new, file, replaced.path, put, replaced=True)
        path = Paths(work.base).of(new, moment)
        return _written(work, new, file, path, Put(path, file.data))


def known_fact(work: Work, new: NewMemory, fact_hash: str) -> str | None:
    """Return the memory that states a fact already; tasks are each their own."""
    return None if new.type == "task" else work.known.holder_of_fact(fact_hash)


def replaced_file(base: Base, new: NewMemory) -> Held | None:
    """Return the memory that a new one replaces, ``None`` where it replaces none. Raises :class:`Occupied`."""
    if new.if_hash is None or new.path is None:
        return None
    held = base.file(normalise(new.path))
    if held is None:
        message = f"{new.path}: nothing is there to be replaced"
        raise FabulaError("ERR_WRITE_CONFLICT", message, "write it without naming what it replaces")
    found = {held.blob}
    if held.reading.is_memory:
        found |= {held.reading.content_hash, held.reading.fact_hash}
    if new.if_hash not in found:
        now = held.reading.content_hash if held.reading.is_memory else held.blob
        raise Occupied(held.path, now, held.blob, f"{held.path}: it is not what it was when it was read; now {now}")
    return held


def as_replacement(file: Prepared, there: Held) -> Prepared:
    """Return a file as it takes the place of another at its path: it stays as old as that was."""
    if not there.reading.is_memory:
        return file
    head = replace(file.document.head, created=there.reading.head.created)
    return prepared_document(replace(file.document, head=head))


def _written(work: Work, new: NewMemory, file: Prepared, path: str, put: Put, *, replaced: bool = False) -> Written:
    alike = same_text(work, new.type, file.content_hash, path)
    message = change_message("task" if new.type == "task" else "write", file.document.title, new.provenance)
    committed = work.commit(message, [put], {path: file.reading})
    return Written(
        path,
        committed.id if committed is not None else None,
        work.base.commit,
        file.content_hash,
        file.fact_hash,
        created=committed is not None and not replaced,
        replaced=replaced,
        blob=committed.blobs.get(path) if committed is not None else None,
        same_text=alike,
        notices=(*work.notices, *notices_of(path, alike)),
    )


def same_text(work: Work, kind: str, content_hash: str, *but: str) -> tuple[str, ...]:
    """Return memories that read like one of a type but hold other values for machines, without some paths."""
    if kind == "task":
        return ()
    return tuple(other for other in work.known.holders_of_content(content_hash) if other not in but)


def notices_of(path: str, alike: tuple[str, ...]) -> tuple[str, ...]:
    """Say that a memory reads like others."""
    if not alike:
        return ()
    return (f"{path} reads like {alike[0]} and differs in values for machines alone: say the difference in words",)
