"""The verbs ``memory link`` and ``memory unlink``: a relation in the head of a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.memory.changing import located, path_of, provenance_of
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fabula.app.wiring import App
    from fabula.memory.store.values import Linked


@frozen
class LinkRequest:
    """A memory, a relation, another memory."""

    source: str
    relation: str
    target: str
    session: str = ""
    prompt: str = ""
    turn: str = ""
    corpus: Path | None = None


@frozen
class LinkResult:
    """The relation as it stands now, or (unlink) no longer does; ``unchanged``: it was so before."""

    source: str
    relation: str
    target: str
    linked: bool
    commit: str | None
    unchanged: bool
    notices: tuple[str, ...]


def link(app: App, request: LinkRequest) -> LinkResult:
    """Write a relation into a memory.

    Raises ``ERR_NO_MEMORY``, ``ERR_DIRTY`` where one is not committed yet, ``ERR_USAGE`` where the two cannot be so
    related.
    """
    from fabula.memory.store.linking import link as write_link

    return _changed(app, request, write_link, linked=True)


def unlink(app: App, request: LinkRequest) -> LinkResult:
    """Take a relation out of a memory. Raises ``ERR_NO_MEMORY``."""
    from fabula.memory.store.linking import unlink as remove_link

    return _changed(app, request, remove_link, linked=False)


def _changed(app: App, request: LinkRequest, change: Callable[..., Linked], *, linked: bool) -> LinkResult:
    access = app.memory_at(request.corpus)
    source, target = path_of(access, request.source), path_of(access, request.target)
    with located(access, source, target):
        done = change(access.store(), source, request.relation, target, provenance_of(request))
    if done.commit is not None:
        access.state().acted("linked" if linked else "unlinked", [done.source, done.target], request.session)
    return LinkResult(
        done.source, done.relation, done.target, linked, done.commit, done.unchanged,
        (*done.notices, *access.notices),
    )  # fmt: skip
