"""Taking over memories of elsewhere: what is not known yet, in one commit; a second time there is nothing to take.

A fact that is known stays away, also one that is in the archive: what was corrected here must not come back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.memory.format.edit import add_link
from fabula.memory.format.gate import MOST_VALUES
from fabula.memory.importing.values import Account, Placed, Skipped
from fabula.memory.store.base import Base
from fabula.memory.store.drafting import prepared
from fabula.memory.store.messages import change_message
from fabula.memory.store.placing import Paths
from fabula.memory.store.values import Provenance
from fabula.storage.git.values import Put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from fabula.memory.importing.values import Candidate
    from fabula.memory.store.drafting import Prepared
    from fabula.memory.store.moment import Moment
    from fabula.memory.store.store import Store

    #: fact hashes -> who holds them, active or archived
    Holders = Callable[[Iterable[str]], Mapping[str, str]]


def take(store: Store, candidates: Sequence[Candidate], holders: Holders, *, subject: str, preview: bool) -> Account:
    """Take candidates over, or (``preview``) say what would be taken. ``subject``: of the commit.

    Raises what concerns all of them: ``ERR_LOCKED``, ``ERR_DIRTY``, ``ERR_GIT``, ``ERR_DISK`` …
    """
    moment = store.moment()
    made, skipped = _prepared(store, candidates, moment)
    if preview:
        plan = _Plan(made, Base(store.repo, store.repo.shop.head()), holders, moment)
        return Account(plan.taken, plan.known, skipped + plan.skipped)
    with store.writing(moment) as work:
        plan = _Plan(made, work.base, holders, moment)
        puts = plan.puts()
        message = change_message("import", f"{subject}: {len(puts)} taken over", Provenance())
        committed = work.commit(message, puts) if puts else None
        commit = committed.id if committed is not None else None
        return Account(plan.taken, plan.known, skipped + plan.skipped, commit, tuple(work.notices))


@frozen
class _Made:
    candidate: Candidate
    file: Prepared


def _prepared(store: Store, candidates: Sequence[Candidate], moment: Moment) -> tuple[list[_Made], list[Skipped]]:
    made, skipped = [], []
    for one in candidates:
        try:
            file = prepared(one.memory, moment)
            store.refuse_secrets(file.texts, is_allowed=one.memory.allow_secrets)
        except FabulaError as error:
            skipped.append(Skipped(one.key, error.message))
            continue
        made.append(_Made(one, file))
    return made, skipped


class _Plan:
    """The decision about each candidate, in order, and the files that follow from it."""

    def __init__(self, made: Sequence[_Made], base: Base, holders: Holders, moment: Moment) -> None:
        self.taken: list[Placed] = []
        self.known: list[Placed] = []
        self.skipped: list[Skipped] = []
        self._files: dict[str, _Made] = {}  # path -> what goes there
        self._where: dict[str, str] = {}  # key -> path
        held = dict(holders({one.file.fact_hash for one in made}))
        paths = Paths(base)
        for one in made:
            self._decide(one, held, paths, moment)

    def puts(self) -> list[Put]:
        """Return the new files, with the relations among them."""
        return [Put(path, self._linked(path, one)) for path, one in self._files.items()]

    def _decide(self, one: _Made, held: dict[str, str], paths: Paths, moment: Moment) -> None:
        key, title = one.candidate.key, one.file.document.title
        there = held.get(one.file.fact_hash)
        if there is not None:
            self.known.append(Placed(key, there, title))
            self._where[key] = there
            return
        try:
            path = paths.of(one.candidate.memory, moment)
        except FabulaError as error:
            self.skipped.append(Skipped(key, error.message))
            return
        held[one.file.fact_hash] = self._where[key] = path
        self._files[path] = one
        self.taken.append(Placed(key, path, title))

    def _linked(self, path: str, one: _Made) -> bytes:
        """Return the file with its relations to what was taken over or known; to itself it has none."""
        data = one.file.data
        targets = [(relation, self._where[key]) for relation, key in one.candidate.links if key in self._where]
        for relation, target in list(dict.fromkeys(targets))[: MOST_VALUES - len(one.file.document.links)]:
            if target != path:
                data = add_link(data, relation, target)
        return data
