"""What one work tree is worked on with: git, its objects, its index, our folder in it, its user's settings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.storage.git.desk import Desk
from fabula.storage.git.filters import Filters
from fabula.storage.git.hooks import Hooks
from fabula.storage.git.index_program import IndexReader
from fabula.storage.git.opening import located, settings_of
from fabula.storage.git.program import Git
from fabula.storage.git.reader import Reader
from fabula.storage.git.trees import Folders, Trees
from fabula.storage.git.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabula.storage.git.values import Settings


class Workshop:
    """The tools for one work tree. Raises ``ERR_PATH`` and ``ERR_GIT`` as :func:`located`."""

    def __init__(self, root: Path, environ: Mapping[str, str], *, hooks: bool) -> None:
        self.git = Git(root, environ)
        self.place = located(self.git)
        self.reader = Reader(self.git)
        self.desk = Desk(self.place.own / "fabula")
        self.indexes = IndexReader(self.git, self.place, self.desk.scratch_index)
        self.hooks = Hooks(Git(root, environ, hooks=True), self.desk.folder) if hooks else None
        self._folders = Folders()
        self._settings: tuple[object, Settings] | None = None

    def head(self) -> tuple[str, str]:
        """Return (commit, tree) of HEAD; two empty ids when nothing was committed yet."""
        found = self.reader.get("HEAD")
        if found is None:
            return ABSENT, ABSENT
        return found[0], found[2][5 : 5 + 2 * self.place.id_bytes].decode()

    def trees(self) -> Trees:
        """Return what reads folders of commits, and makes new ones of them."""
        return Trees(self.place, lambda tree: self.reader.data(tree, "tree"), self._folders)

    def settings(self) -> Settings:
        """Return what the configuration says; read again when one of its files changed."""
        seen = [_stamp(path) for path in self._config_files()]
        if self._settings is None or self._settings[0] != seen:
            self._settings = seen, settings_of(self.git)
        return self._settings[1]

    def filters(self) -> Filters:
        """Return what becomes of files when git takes them in."""
        return Filters(self.git, self.place, self.settings())

    def _config_files(self) -> list[Path]:
        """Return the files that a configuration is usually in (those that they include are not watched)."""
        environ = self.git.environ
        home = Path(environ.get("HOME") or environ.get("USERPROFILE") or "/")
        shared = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
        own = environ.get("GIT_CONFIG_GLOBAL") or home / ".gitconfig"
        return [
            self.place.common / "config", self.place.own / "config.worktree", Path(own), shared / "git" / "config",
            Path("/etc/gitconfig"),
        ]  # fmt: skip


def _stamp(path: Path) -> tuple[int, int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0, 0
    return found.st_mtime_ns, found.st_size, found.st_ino
