"""The one composition root: reads the process's environment and builds what the use cases need.

Nothing else in ``app`` or below looks at the environment, the working directory or the user's home.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.kernel.clock import SystemClock
from fabula.kernel.errors import FabulaError
from fabula.kernel.paths import Home, fabula_home

if TYPE_CHECKING:
    from collections.abc import Mapping

    import apsw

    from fabula.app.access import Freshness, RecordAccess
    from fabula.app.config import Config
    from fabula.kernel.clock import Clock
    from fabula.record.loader import Loader
    from fabula.record.sources import Source
    from fabula.record.vault.vault import Vault


class App:
    """The live parts of one process, built when first asked for."""

    def __init__(self, *, environment: Mapping[str, str], cwd: Path, user_home: Path, clock: Clock) -> None:
        self.environment = environment
        self.cwd = cwd
        self.user_home = user_home
        self.clock = clock
        self.home: Home = fabula_home(environment, user_home)

    @cached_property
    def config(self) -> Config:
        """The settings. Raises ``ERR_CONFIG``."""
        from fabula.app.config import read_config

        return read_config(self.home.config, self.environment, self.user_home)

    @cached_property
    def record(self) -> RecordAccess:
        """The record: sources, vault and map, and the scan that brings them up to date."""
        from fabula.app.access import RecordAccess

        return RecordAccess(self.home, self.clock, self._make_sources)

    def sources(self) -> list[Source]:
        """Every source that is configured. Raises ``ERR_CONFIG``."""
        return self.record.sources

    def vault(self) -> Vault | None:
        """The vault for reading; ``None`` when nothing was sealed yet. Raises ``ERR_VAULT_FORMAT``."""
        return self.record.vault

    def reader(self) -> apsw.Connection:
        """The map for reading. Raises ``ERR_NO_RECORD``, ``ERR_DATABASE``."""
        return self.record.reader()

    def loader(self) -> Loader:
        """The way from rows of the map to records. Raises as :meth:`reader`."""
        return self.record.loader()

    def refresh(self) -> Freshness:
        """Take in what is new, within bounds, before a read."""
        return self.record.refresh()

    def _make_sources(self) -> list[Source]:
        from fabula.hosts.claude.generations import GenerationFolder
        from fabula.hosts.claude.source import ClaudeSource
        from fabula.hosts.codex.source import CodexSource

        config = self.config
        sources: list[Source] = [
            ClaudeSource(config["record.claude_roots"]),
            CodexSource(config["record.codex_home"]),
        ]
        if config["record.vault_roots"]:
            sources.append(GenerationFolder(config["record.vault_roots"]))
        return sources


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
