"""A workspace's own folder, ``.fable/``: git sees the checks and the policy in it, which a team shares, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

WORKSPACE = ".fable"
IGNORED = f"{WORKSPACE}/.gitignore"
#: The last rule that fits a path decides, so ``*`` stands first.
RULES = ("*", "!.gitignore", "!checks.toml", "!policy.toml")


def top_of_work_tree(folder: Path) -> Path | None:
    """Return the top of the git work tree around a folder, its own where there are several; ``None`` outside of any."""
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), None)


def why_no_workspace(top: Path, user_home: Path, ours: Iterable[Path]) -> str | None:
    """Return why a folder is no workspace: a user's home, our own data, a memory. ``None`` where it may be one."""
    from fabula.memory.store.opening import examine

    if top.resolve() == user_home.resolve():
        return "is your home folder: a .fable in it would hold for everything below"
    if any(top.resolve() == place.resolve() for place in ours) or examine(top).is_corpus:
        return "is a memory, not a piece of work"
    return None


def make_workspace(top: Path) -> bool:
    """Make the folder and what git ignores in it; say whether anything was written.

    Lines that a person has there stay. Raises ``ERR_PATH`` where something else has the name, ``ERR_DISK``,
    ``ERR_READ_ONLY``.
    """
    from fabula.storage.files import disk_errors, write_atomic

    folder, file = top / WORKSPACE, top / IGNORED
    for path, wanted in ((folder, folder.is_dir()), (file, file.is_file())):
        if path.is_symlink() or (path.exists() and not wanted):
            raise FabulaError(
                "ERR_PATH", f"{path} is a link or something else than it should be", f"mv {path} {path}.old"
            )
    with disk_errors(folder):
        text = file.read_bytes().decode("utf-8", "surrogateescape") if file.exists() else ""
        if _says(text):
            return False
        folder.mkdir(exist_ok=True)
        ending = "" if not text or text.endswith("\n") else "\n"
        made = f"{text}{ending}# fabula: what happened here is this machine's; checks and policy are everybody's\n"
        write_atomic(file, (made + "\n".join(RULES) + "\n").encode("utf-8", "surrogateescape"), mode=0o644)
    return True


def _says(text: str) -> bool:
    """Whether lines say all of the rules, in an order in which they hold."""
    lines = [line.strip() for line in text.splitlines()]
    if not set(RULES) <= set(lines):
        return False
    last = {rule: len(lines) - lines[::-1].index(rule) for rule in RULES}
    return all(last["*"] < last[rule] for rule in RULES[1:])
