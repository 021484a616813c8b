"""Relations that lead to a path without a memory: led to where it is now, else taken out; heads alone are spliced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import frozen
from fabula.memory.format.edit import add_link, remove_link, set_meta
from fabula.memory.store.messages import change_message
from fabula.memory.store.stamps import UPDATED
from fabula.memory.store.values import Provenance
from fabula.storage.git.values import Put

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fabula.memory.store.store import Store


@frozen
class Loose:
    """A written relation to a path where no memory is. ``now``: where that memory is, ``None`` where it is nowhere."""

    source: str
    relation: str
    target: str
    now: str | None


@frozen
class Mended:
    """What a repair did: relations that were led elsewhere, and that were taken out."""

    led: int
    dropped: int
    commit: str | None


def mend(store: Store, find: Callable[[], Sequence[Loose]]) -> Mended:
    """Repair all loose relations in one commit. ``find`` is asked while nobody else can write.

    Raises ``ERR_DIRTY`` where a person is changing one of the files, and what commits raise; then nothing was changed.
    """
    with store.writing() as work:
        loose = [one for one in find() if work.base.entry(one.source) is not None]
        files = {path: work.base.memory(path) for path in dict.fromkeys(one.source for one in loose)}
        data = {path: held.data for path, held in files.items()}
        for one in loose:
            data[one.source] = _mended(data[one.source], one)
        puts = [
            Put(path, set_meta(text, UPDATED, work.moment.text), files[path].blob)
            for path, text in data.items()
            if text != files[path].data
        ]
        if not puts:
            return Mended(0, 0, None)
        subject = f"repair {len(loose)} dangling link{'' if len(loose) == 1 else 's'}"
        committed = work.commit(change_message("link", subject, Provenance()), puts)
        led = sum(one.now is not None for one in loose)
        return Mended(led, len(loose) - led, committed.id if committed is not None else None)


def _mended(data: bytes, one: Loose) -> bytes:
    data = remove_link(data, one.relation, one.target)
    return data if one.now is None or one.now == one.source else add_link(data, one.relation, one.now)
