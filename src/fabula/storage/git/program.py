"""Running the git program: a clean environment, no hooks, durable writes, errors for people."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping
    from pathlib import Path

LIMIT_SECONDS = 120.0

#: what git takes from its environment about the repository: a hook that calls us sets these for its own repository
_OF_A_REPOSITORY = frozenset(
    """GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_ATTR_SOURCE GIT_COMMON_DIR GIT_CONFIG GIT_CONFIG_PARAMETERS GIT_DIR
    GIT_GRAFT_FILE GIT_IMPLICIT_WORK_TREE GIT_INDEX_FILE GIT_INTERNAL_SUPER_PREFIX GIT_LITERAL_PATHSPECS GIT_NAMESPACE
    GIT_NO_REPLACE_OBJECTS GIT_OBJECT_DIRECTORY GIT_PREFIX GIT_QUARANTINE_PATH GIT_REF_STORAGE_FORMAT
    GIT_REPLACE_REF_BASE GIT_SHALLOW_FILE GIT_WORK_TREE GIT_TRACE GIT_EXTERNAL_DIFF GIT_DIFF_OPTS GIT_ICASE_PATHSPECS
    GIT_GLOB_PATHSPECS GIT_NOGLOB_PATHSPECS GIT_REFLOG_ACTION""".split()
)


@frozen
class Done:
    """How a call of git ended."""

    status: int
    out: bytes
    err: bytes


class Git:
    """The git program at one work tree.

    ``environ`` is the environment of the user: identity and configuration are taken from it, names of repositories are
    not. Hooks do not run unless ``hooks``; what is written is synced.
    """

    def __init__(self, root: Path, environ: Mapping[str, str], *, program: str = "git", hooks: bool = False) -> None:
        self.root = root
        self.environ = {name: value for name, value in environ.items() if name not in _OF_A_REPOSITORY}
        self.environ |= {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
        self._command = (
            program,
            "-C",
            str(root),
            "--no-replace-objects",
            "--no-pager",
            *(() if hooks else ("-c", f"core.hooksPath={os.devnull}")),
            "-c",
            "core.fsync=all",
            "-c",
            "core.quotePath=false",
        )

    def run(
        self,
        *words: str,
        stdin: bytes = b"",
        extra: Mapping[str, str] | None = None,
        allowed: tuple[int, ...] = (0,),
        limit: float = LIMIT_SECONDS,
    ) -> Done:
        """Run git and return what it said. Raises ``ERR_GIT`` when its status is not one of ``allowed``."""
        import subprocess

        environ = {**self.environ, **extra} if extra else self.environ
        try:
            ended = subprocess.run(
                (*self._command, *words), input=stdin, capture_output=True, env=environ, timeout=limit, check=False
            )
        except FileNotFoundError as error:
            raise _missing(self._command[0]) from error
        except subprocess.TimeoutExpired as error:
            raise FabulaError("ERR_GIT", f"git {words[0]} took longer than {limit:.0f} seconds") from error
        if ended.returncode not in allowed:
            raise refused(words[0], ended.stderr)
        return Done(ended.returncode, ended.stdout, ended.stderr)

    def start(self, *words: str, extra: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Start git and leave it running; its standard input and output are pipes."""
        import subprocess

        try:
            return subprocess.Popen(
                (*self._command, *words),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**self.environ, **extra} if extra else self.environ,
            )
        except FileNotFoundError as error:
            raise _missing(self._command[0]) from error


def refused(verb: str, said: bytes) -> FabulaError:
    """Return the error for what git refused, in git's own words."""
    text = " ".join(said.decode("utf-8", "replace").split())[:500]
    return FabulaError("ERR_GIT", f"git {verb}: {text or 'it failed without a word'}")


def _missing(program: str) -> FabulaError:
    return FabulaError("ERR_GIT", f"{program}: the git program was not found", "install git, then repeat the command")
