"""The verb ``memory at``: the corpus, or one memory of it, as it was at a day, a time or a commit."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.memory.access import MemoryAccess
    from fabula.app.wiring import App
    from fabula.memory.past.corpus import CorpusAt


@frozen
class AtRequest:
    """``when``: a day (its end), a time, or a commit. With a ``path`` that memory, without one a list of all."""

    when: str
    path: str = ""
    folder: str = ""
    include_archived: bool = False
    limit: int = 50
    html: bool = False
    corpus: Path | None = None


@frozen
class Then:
    """A memory as it was; ``blob`` names its bytes in git."""

    path: str
    title: str
    type: str
    claim: str
    blob: str


@frozen
class AtResult:
    """The commit that counts for the moment, and what it held.

    ``total`` counts what the list has in all. ``html`` and ``text`` are of the one memory that was asked for.
    """

    when: str
    commit: str
    committed_at: int
    memories: tuple[Then, ...]
    total: int
    html: str | None
    text: str | None
    print_html: bool
    notices: tuple[str, ...]


def at(app: App, request: AtRequest) -> AtResult:
    """Read the past. Raises ``ERR_NOT_FOUND`` where nothing was committed then, ``ERR_NO_MEMORY``, ``ERR_PATH``."""
    from fabula.memory.past.corpus import corpus_at

    access = app.memory_at(request.corpus)
    corpus = corpus_at(access.repo(), request.when)
    html: str | None = None
    text: str | None = None
    if request.path:
        paths = [_place(access, corpus, request.path)]
        if paths[0] not in corpus.entries:
            message = f"no memory was at {paths[0]} then (commit {corpus.commit[:12]})"
            raise FabulaError("ERR_NO_MEMORY", message, f"fabula memory history {quote(paths[0])}")
        reading = corpus.read(paths[0])
        html, text, total = reading.source.text, reading.content.text, 1
    else:
        found = corpus.paths(request.folder, archived=request.include_archived)
        total, paths = len(found), found[: request.limit]
    memories = [
        Then(path, reading.title, reading.head.type if reading.is_memory else "", reading.content.claim, blob)
        for path, blob, reading in corpus.each(paths)
    ]
    return AtResult(
        request.when, corpus.commit, corpus.at, tuple(memories), total, html, text, request.html, access.notices
    )


def _place(access: MemoryAccess, corpus: CorpusAt, name: str) -> str:
    """Return the path of the one memory that a name ended in then; else what the name stands for now."""
    from fabula.app.memory.changing import path_of
    from fabula.memory.format.paths import SUFFIX
    from fabula.memory.store.base import memory_path

    ending = f"/{name.removesuffix(SUFFIX)}{SUFFIX}"
    named = [path for path in corpus.entries if path.endswith(ending)]
    return named[0] if len(named) == 1 else memory_path(path_of(access, name))
