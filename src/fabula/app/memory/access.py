"""One process's way to a corpus of memories: its parts, put together from the settings, built when first asked for."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fabula.app.config import Config
    from fabula.kernel.clock import Clock
    from fabula.kernel.paths import Home
    from fabula.memory.index.memory_index import MemoryIndex
    from fabula.memory.index.values import Report
    from fabula.memory.retrieval.retriever import Retriever
    from fabula.memory.state.plane import StatePlane
    from fabula.memory.store.opening import Corpus
    from fabula.memory.store.store import Store
    from fabula.models.embedding import Embedder, Unavailable
    from fabula.storage.git.repo import Repo


class MemoryAccess:
    """The live parts of one corpus. Making it opens nothing; :meth:`notices` say what limits an answer."""

    def __init__(
        self,
        root: Path,
        *,
        home: Home,
        config: Config,
        environment: Mapping[str, str],
        clock: Clock,
        entropy: Callable[[int], bytes],
        cwd: Path,
    ) -> None:
        self.root = root
        self.home = home
        self.config = config
        self.environment = environment
        self.clock = clock
        self.entropy = entropy
        self.cwd = cwd
        self.report: Report | None = None  # of the last refresh
        self._notices: list[str] = []
        self._moves_taken = 0  # the id of the last rename that the state's log has

    # ── the parts ────────────────────────────────────────────────────
    @cached_property
    def _corpus(self) -> Corpus:
        from fabula.memory.store.opening import open_corpus

        return open_corpus(self.root, self.environment, hooks=self.config["git.hooks"])

    @cached_property
    def _index(self) -> MemoryIndex:
        from fabula.memory.index.opening import open_index

        self._hide()
        return open_index(self.root, self.repo, self.clock, scratch=self.home.root / "indexes")

    @cached_property
    def _state(self) -> StatePlane:
        from fabula.memory.state.plane import StatePlane

        self._hide()
        return StatePlane(self.root, self.clock, self.entropy)

    @cached_property
    def _store(self) -> Store:
        from fabula.app.memory.nearness import Nearness
        from fabula.memory.store.guarding import Secrets
        from fabula.memory.store.store import Store

        near = Nearness(self.index(), self.embedder)
        return Store(self.repo(), self.index(), self.clock, Secrets(), near)

    @cached_property
    def _retriever(self) -> Retriever:
        from fabula.memory.retrieval.retriever import Retriever

        return Retriever(self.index(), self.embedder, self.state().states)

    @cached_property
    def embedder(self) -> Embedder | Unavailable:
        """What makes vectors of texts, as the settings name it; never an error: words still find."""
        from fabula.models.choosing import EmbedderSettings, embedder_of

        config = self.config
        return embedder_of(
            EmbedderSettings(
                config["embedding.provider"],
                config["embedding.model"],
                config["embedding.url"],
                self.environment.get(config["embedding.key_env"], ""),
                float(config["embedding.timeout_seconds"]),
            ),
            _static_table(),
        )

    def corpus(self) -> Corpus:
        """Return the corpus. Raises ``ERR_NO_CORPUS``, with the command that makes one; makes nothing."""
        return self._corpus

    def repo(self) -> Repo:
        """Return the corpus's repository. Raises ``ERR_NO_CORPUS``, ``ERR_GIT``."""
        return self.corpus().repo()

    def index(self) -> MemoryIndex:
        """Return the index as it is. Raises ``ERR_NO_CORPUS``, ``ERR_DATABASE``."""
        return self._index

    def state(self) -> StatePlane:
        """Return what is known of readings, reinforcements and sessions. Raises ``ERR_NO_CORPUS``."""
        return self._state

    def store(self) -> Store:
        """Return the store, for changes. Raises ``ERR_NO_CORPUS``, ``ERR_GIT``, ``ERR_DATABASE``."""
        return self._store

    def retriever(self) -> Retriever:
        """Return the retrieval over the index. Raises ``ERR_NO_CORPUS``, ``ERR_DATABASE``."""
        return self._retriever

    # ── keeping up ───────────────────────────────────────────────────
    def refreshed(self, *, thorough: bool = False) -> MemoryIndex:
        """Return the index with what changed taken in; renames that were seen are kept in the state's log too.

        Raises ``ERR_NO_CORPUS``, ``ERR_DATABASE``, ``ERR_GIT``, ``ERR_LOCKED``.
        """
        index = self.index()
        self.report = index.refresh(thorough=thorough)
        self._notices += self.report.notices
        if self.report.problems:
            files = "file is" if self.report.problems == 1 else "files are"
            self._notices.append(f"{self.report.problems} {files} no memory: fabula memory index status")
        moves = index.moves_after(self._moves_taken)
        if moves:
            self.state().take_moves(moves)
            self._moves_taken = moves[-1].id
        return index

    @property
    def notices(self) -> tuple[str, ...]:
        """What a reader of an answer should know, each said once."""
        parts = vars(self)
        said = [*self._notices]
        for name in ("_index", "_state"):
            said += parts[name].notices if name in parts else ()
        return tuple(dict.fromkeys(said))

    def home_workspace(self) -> str | None:
        """The workspace whose memories concern the working directory: its repository's; ``None`` outside of one."""
        from fabula.memory.format.slugs import slug
        from fabula.storage.repository import find_repository

        repository = find_repository(self.cwd)
        if repository is None or repository.root == self.root:
            return None
        return slug(repository.root.name.removesuffix(".git"))

    def close(self) -> None:
        """Give back what is held open; it opens again when it is asked for."""
        parts = vars(self)
        for name in ("_retriever", "_store"):
            parts.pop(name, None)
        for name in ("_index", "_state", "_corpus"):
            part = parts.pop(name, None)
            if part is not None:
                part.close()

    def _hide(self) -> None:
        """Have git pass over what is made in the corpus, before anything is. Raises ``ERR_NO_CORPUS``."""
        from fabula.memory.store.excluding import ensure_excluded

        notice = ensure_excluded(self.corpus().root)
        if notice is not None and notice not in self._notices:
            self._notices.append(notice)


def _static_table() -> Path:
    """Return the folder of the table that comes with Fabula."""
    from fabula import data

    return Path(data.__file__ or "").parent / "embedding"
