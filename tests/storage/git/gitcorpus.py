"""A repository to write to, and a person who uses git in it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from fabula.storage.git.repo import Repo

AT = "1700000000 +0000"
FAR = 20.0


class Person:
    """Someone who types git commands in a work tree, with an empty home."""

    def __init__(self, root: Path) -> None:
        self.root = root
        home = root.parent / "home"
        home.mkdir(exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        self.environ = {**kept, "HOME": str(home), "XDG_CONFIG_HOME": str(home / "xdg"), "GIT_CONFIG_NOSYSTEM": "1"}

    def git(self, *words: str, check: bool = True, **more: str) -> str:
        """Run git; return what it printed."""
        done = subprocess.run(
            ("git", "-C", str(self.root), *words),
            capture_output=True,
            text=True,
            check=False,
            env={**self.environ, **more},
        )
        assert done.returncode == 0 or not check, done.stderr
        return done.stdout.strip()

    def status(self) -> list[str]:
        """Return what differs from HEAD, two letters and a path each; nothing when all is clean."""
        words = ("git", "-C", str(self.root), "status", "--porcelain", "-z", "--untracked-files=all")
        out = subprocess.run(words, capture_output=True, check=True, env=self.environ).stdout
        return [row.decode() for row in out.split(b"\0") if row]

    def write(self, path: str, text: str) -> Path:
        """Write a file in the work tree."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())
        return place

    def subjects(self, name: str = "HEAD") -> list[str]:
        """Return the subjects of all commits, newest first."""
        return self.git("log", "--format=%s", name).splitlines()

    def blob(self, path: str, name: str = "HEAD") -> str:
        """Return the blob id of a path."""
        return self.git("rev-parse", f"{name}:{path}")

    def repo(self, *, hooks: bool = False) -> Repo:
        """Open the repository as Fabula does."""
        return Repo(self.root, self.environ, hooks=hooks)


def made(folder: Path, *options: str, files: dict[str, str] | None = None) -> Person:
    """Make a repository; with ``files`` also a first commit."""
    root = folder / "corpus"
    root.mkdir(parents=True)
    someone = Person(root)
    someone.git("init", "--quiet", "-b", "main", *options)
    someone.git("config", "user.name", "Ada")
    someone.git("config", "user.email", "ada@example.org")
    if files is not None:
        for path, text in files.items():
            someone.write(path, text)
        someone.git("add", "-A")
        someone.git("commit", "--quiet", "-m", "first")
    return someone
