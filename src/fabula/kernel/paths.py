"""Where Fabula keeps its own data. Pure: the environment is passed in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping


@frozen
class Home:
    """The user's Fabula folder (``$FABULA_HOME``, default ``~/.fabula``) and what lies in it."""

    root: Path

    @property
    def config(self) -> Path:
        """The configuration file."""
        return self.root / "config.toml"

    @property
    def vault(self) -> Path:
        """The vault: truth."""
        return self.root / "vault"

    @property
    def map(self) -> Path:
        """The map: derived from vault and sources, may be deleted."""
        return self.root / "map.db"

    @property
    def copy_marker(self) -> Path:
        """There when this is a copy of another home's vault, which nothing but copying writes to."""
        return self.root / "fabula-copy.json"

    @property
    def lock(self) -> Path:
        """The one writer lock of vault and map."""
        return self.root / "writer.lock"


def fabula_home(environment: Mapping[str, str], user_home: Path) -> Home:
    """Return the home named by ``FABULA_HOME``, else ``~/.fabula``."""
    named = environment.get("FABULA_HOME", "")
    if named.startswith("~/"):
        return Home(user_home / named[2:])
    return Home(Path(named) if named else user_home / ".fabula")
