"""The user's own hooks around a commit, where the user wants them: pre-commit, commit-msg, post-commit."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.storage.git.program import Git

HOOK_SECONDS = 300.0


class Hooks:
    """Runs hooks with an index that holds the commit and nothing else."""

    def __init__(self, git: Git, folder: Path) -> None:
        self._git = git
        self._index = folder / "index.hooks"
        self._message = folder / "message"

    def before(self, tree: str, message: str) -> str:
        """Run what may refuse a commit; return its message as ``commit-msg`` leaves it. Raises ``ERR_GIT``."""
        extra = {"GIT_INDEX_FILE": str(self._index), "GIT_EDITOR": ":"}
        try:
            self._git.run("read-tree", tree, extra=extra)
            self._message.write_text(message, encoding="utf-8")
            self._run("pre-commit", extra=extra)
            self._run("commit-msg", str(self._message), extra=extra)
            return self._message.read_text(encoding="utf-8")
        finally:
            for path in (self._index, self._message):
                with suppress(OSError):
                    os.unlink(path)

    def after(self) -> None:
        """Run what is told of a commit; what it answers changes nothing."""
        with suppress(FabulaError):
            self._run("post-commit", extra={})

    def _run(self, name: str, *words: str, extra: dict[str, str]) -> None:
        rest = ("--", *words) if words else ()
        answer = self._git.run(
            "hook", "run", "--ignore-missing", name, *rest, extra=extra, allowed=tuple(range(256)), limit=HOOK_SECONDS
        )
        if answer.status:
            said = " ".join((answer.err or answer.out).decode("utf-8", "replace").split())[:500]
            raise FabulaError("ERR_GIT", f"the repository's {name} hook refused the commit: {said}")
