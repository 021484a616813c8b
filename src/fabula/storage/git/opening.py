"""Where a repository lies and what its user's configuration says; asked of git, since it alone knows."""

from __future__ import annotations

import os
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.storage.git.values import Person, Place, Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabula.storage.git.program import Git

#: who commits where git knows nobody
NOBODY = Person("Fabula", "fabula@localhost")

_TRUE = frozenset({"true", "yes", "on", "1", ""})


def located(git: Git) -> Place:
    """Return the place of the repository whose work tree begins at the root of ``git``.

    Raises ``ERR_PATH`` when there is no folder, ``ERR_GIT`` when there is no repository, when the folder lies inside a
    work tree instead of at its top, or when git does not trust it.
    """
    if not git.root.is_dir():
        raise FabulaError("ERR_PATH", f"{git.root}: no such folder")
    answer = git.run(
        "rev-parse", "--path-format=absolute", "--is-inside-work-tree", "--git-dir", "--git-common-dir",
        "--show-object-format", "--show-prefix", allowed=(0, 128),
    )  # fmt: skip
    lines = os.fsdecode(answer.out).split("\n")
    where = quote(str(git.root))
    if answer.status:
        said = " ".join(os.fsdecode(answer.err).split())[:300]
        begin = () if "safe.directory" in said else (f"git -C {where} init",)
        raise FabulaError("ERR_GIT", f"{git.root}: {said}", *begin)
    if lines[0] != "true":
        raise FabulaError("ERR_GIT", f"{git.root}: this is a repository without a work tree")
    if lines[4]:
        raise FabulaError(
            "ERR_GIT", f"{git.root}: this folder lies inside a repository, not at its top", f"git -C {where} init"
        )
    return Place(git.root, Path(lines[1]), Path(lines[2]), lines[3])


def settings_of(git: Git) -> Settings:
    """Return what the configuration says: the user's, the system's and the repository's."""
    said: dict[str, str] = {}
    for row in git.run("config", "--list", "-z").out.decode("utf-8", "replace").split("\0"):
        name, _, value = row.partition("\n")
        said[name] = value
    return Settings(
        author=person("author", said, git.environ),
        committer=person("committer", said, git.environ),
        signs=said.get("commit.gpgsign", "false").lower() in _TRUE,
        converts_lines=said.get("core.autocrlf", "false").lower() in _TRUE | {"input"},
        attributes_file=said.get("core.attributesfile", ""),
        ignores_case=said.get("core.ignorecase", "false").lower() in _TRUE,
    )


def person(role: str, said: Mapping[str, str], environ: Mapping[str, str]) -> Person:
    """Return who has a role: the environment says so, else ``author.name``, else ``user.name``, else :data:`NOBODY`."""
    prefix = f"GIT_{role.upper()}"
    name = environ.get(f"{prefix}_NAME") or said.get(f"{role}.name") or said.get("user.name") or NOBODY.name
    email = (
        environ.get(f"{prefix}_EMAIL")
        or said.get(f"{role}.email")
        or said.get("user.email")
        or environ.get("EMAIL")
        or NOBODY.email
    )
    return Person(_plain(name) or NOBODY.name, _plain(email) or NOBODY.email)


def _plain(text: str) -> str:
    """Leave out what git's form of an identity cannot hold."""
    kept = "".join(letter for letter in text if letter not in "<>\n\r\0")
    return kept.encode("utf-8", "replace").decode().strip(" .,:;\"'\t")
