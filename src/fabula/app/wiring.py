"""The one composition root: reads the process's environment and builds what the use cases need.

Nothing else in ``app`` or below looks at the environment, the working directory or the user's home.
"""

from __future__ import annotations

import os
import sys
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.kernel.clock import SystemClock
from fabula.kernel.errors import FabulaError
from fabula.kernel.paths import Home, fabula_home
from fabula.storage.keyring import ask_for_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    import apsw

    from fabula.app.access import Freshness, RecordAccess
    from fabula.app.config import Config
    from fabula.app.memory.access import MemoryAccess
    from fabula.kernel.clock import Clock
    from fabula.record.loader import Loader
    from fabula.record.search.engine import Searcher
    from fabula.record.sources import Source
    from fabula.record.vault.vault import Vault

STDIN_LIMIT = 64 * 1024 * 1024  # bytes of standard input that one command takes


class App:
    """The live parts of one process, built when first asked for."""

    def __init__(
        self,
        *,
        environment: Mapping[str, str],
        cwd: Path,
        user_home: Path,
        clock: Clock,
        entropy: Callable[[int], bytes] = os.urandom,
    ) -> None:
        self.entropy = entropy
        self.environment = environment
        self.cwd = cwd
        self.user_home = user_home
        self.clock = clock
        self._memories: list[MemoryAccess] = []
        self.searcher: Searcher | None = None  # kept between searches: see ``app.record.finding``
        self.home = Home(cwd / fabula_home(environment, user_home).root)
        ask_for_key(self.home.vault, partial(_give_key, self.home.config, environment, user_home))

    @cached_property
    def config(self) -> Config:
        """The settings. Raises ``ERR_CONFIG``."""
        from fabula.app.config import read_config

        return read_config(self.home.config, self.environment, self.user_home)

    # ── the record ───────────────────────────────────────────────────

    @cached_property
    def record(self) -> RecordAccess:
        """The record's parts, put together from the settings."""
        from fabula.app.access import RecordAccess
        from fabula.app.sources import configured_sources

        return RecordAccess(self.home, self.clock, lambda: configured_sources(self.config))

    def sources(self) -> list[Source]:
        """Return every configured source of transcripts."""
        return self.record.sources

    def vault(self) -> Vault | None:
        """Return the vault for reading; ``None`` when nothing was sealed yet."""
        return self.record.vault

    def reader(self) -> apsw.Connection:
        """Return the map for reading. Raises ``ERR_NO_RECORD``, ``ERR_DATABASE``."""
        return self.record.reader()

    def loader(self) -> Loader:
        """Return the loader of records. Raises ``ERR_NO_RECORD``, ``ERR_DATABASE``."""
        return self.record.loader()

    def refresh(self) -> Freshness:
        """Take in what is new before a read, within bounds; say how current the answer will be."""
        return self.record.refresh()

    @cached_property
    def project(self) -> tuple[str, str]:
        """The project of the working directory: (key, label)."""
        from fabula.record.projects import project_of

        return project_of(str(self.cwd))

    def project_id(self) -> int | None:
        """Return the map's id of the project of the working directory; ``None`` when it has no sessions."""
        row = self.reader().execute("select id from projects where key=?", (self.project[0],)).fetchone()
        return int(row[0]) if row else None

    def stdin_text(self) -> str:
        """Return all of standard input; a terminal counts as empty. Raises ``ERR_USAGE`` where it is too much."""
        stream = sys.stdin
        if stream is None or stream.isatty():
            return ""
        data = stream.buffer.read(STDIN_LIMIT + 1)
        if len(data) > STDIN_LIMIT:
            raise FabulaError("ERR_USAGE", f"standard input is longer than {STDIN_LIMIT:,} bytes", "give it in parts")
        return data.decode("utf-8", "replace")

    # ── the memory ───────────────────────────────────────────────────

    @cached_property
    def memory(self) -> MemoryAccess:
        """The corpus of memories that the settings name. Opens nothing. Raises ``ERR_CONFIG``."""
        return self._memory(self.config["memory.root"])

    def memory_at(self, corpus: Path | None) -> MemoryAccess:
        """Return the parts of the corpus at a folder, or of the one that the settings name. Raises ``ERR_CONFIG``."""
        return self.memory if corpus is None else self._memory(corpus)

    def _memory(self, root: Path) -> MemoryAccess:
        from fabula.app.memory.access import MemoryAccess

        access = MemoryAccess(
            root,
            home=self.home,
            config=self.config,
            environment=self.environment,
            clock=self.clock,
            entropy=self.entropy,
            cwd=self.cwd,
        )
        self._memories.append(access)
        return access

    def close(self) -> None:
        """End what serves the memories that were opened; they open again when they are asked for."""
        for access in self._memories:
            access.close()


def _give_key(
    config: Path, environment: Mapping[str, str], user_home: Path, _vault: Path, said: Mapping[str, Any]
) -> bytes:
    """Return the key of an encrypted record. Holds nothing of the application, which may be gone by then."""
    from fabula.app.config import read_config
    from fabula.app.vault.unlocking import give_key

    may_ask = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))
    return give_key(said, read_config(config, environment, user_home), may_ask=may_ask)


def build_app() -> App:
    """Build the application of this process. Raises ``ERR_CONFIG`` when there is no home folder at all."""
    environment = dict(os.environ)
    return App(environment=environment, cwd=_cwd(environment), user_home=_user_home(), clock=SystemClock())


def _cwd(environment: Mapping[str, str]) -> Path:
    """The working directory; where it was deleted, the name that the shell remembers."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path(environment.get("PWD") or "/")


def _user_home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:
        raise FabulaError("ERR_CONFIG", "the home folder of the user is not known", "export HOME=/your/home") from error
