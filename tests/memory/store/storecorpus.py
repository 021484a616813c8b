"""A corpus to write to, what is known of it, and a clock that stands still until it is moved."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from fabula.memory.format.paths import is_indexed
from fabula.memory.format.reader import Reading, read
from fabula.memory.standing.frames import frame_key
from fabula.memory.store.guarding import Secrets
from fabula.memory.store.opening import open_corpus
from fabula.memory.store.scaffold import init_corpus
from fabula.memory.store.store import Store
from fabula.memory.store.values import NewMemory
from fabula.storage.git.history import blobs, files_at
from fabula.storage.git.repo import Repo
from fabula.storage.git.values import Committed

START = 1_780_000_000  # 2026-05-28T20:26:40Z


class Clock:
    """Stands still."""

    def __init__(self, seconds: int = START) -> None:
        self.seconds = seconds

    def now_ms(self) -> int:
        return self.seconds * 1000


class Scanned:
    """What is known: every file of HEAD, read anew when HEAD is another. ``fails`` with what is told of commits."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo
        self._commit = ""
        self.readings: dict[str, Reading] = {}
        self.asked: list[str] = []
        self.fails: Exception | None = None

    def bring_to(self, commit: str) -> None:
        if commit != self._commit:
            git, reader = self._repo.shop.git, self._repo.shop.reader
            files = [(path, entry) for path, entry in files_at(git, commit).items() if is_indexed(path)]
            self.readings = {path: read(data) for path, data in blobs(reader, files)}
            self._commit = commit

    def took(
        self, committed: Committed, contents: Mapping[str, bytes | None], readings: Mapping[str, Reading] | None = None
    ) -> None:
        if self.fails is not None:
            raise self.fails
        for path, data in contents.items():
            self.readings.pop(path, None)
            if data is not None:
                self.readings[path] = read(data)
                assert readings is None or path not in readings or readings[path].source.data == data
        self._commit = committed.id

    def holder_of_fact(self, fact_hash: str) -> str | None:
        return next((path for path, one in self._active() if one.fact_hash == fact_hash), None)

    def holders_of_content(self, content_hash: str) -> list[str]:
        return [path for path, one in self._active() if one.content_hash == content_hash]

    def frame_holders(self, keys: Iterable[str]) -> dict[str, list[tuple[str, str]]]:
        wanted = list(keys)
        self.asked += wanted
        found: dict[str, list[tuple[str, str]]] = {}
        for path, one in self._active():
            key = frame_key(one.content.claim)
            if key in wanted:
                found.setdefault(key, []).append((path, one.content.claim))
        return found

    def _active(self) -> list[tuple[str, Reading]]:
        return [
            (path, one)
            for path, one in sorted(self.readings.items())
            if not path.startswith("archive/") and one.is_memory and one.head.type != "task"
        ]


class Person:
    """Someone who types git commands in a work tree, with an empty home."""

    def __init__(self, root: Path) -> None:
        self.root = root
        home = root.parent / "home"
        home.mkdir(parents=True, exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        people = {
            f"GIT_{role}_{what}": said
            for role in ("AUTHOR", "COMMITTER")
            for what, said in (("NAME", "Ada"), ("EMAIL", "ada@example.org"))
        }
        homes = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "xdg"), "GIT_CONFIG_NOSYSTEM": "1"}
        self.environ = {**kept, **homes, **people}

    def git(self, *words: str) -> str:
        """Run git; return what it printed."""
        command = ("git", "-C", str(self.root), *words)
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=self.environ)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def status(self) -> list[str]:
        """Return what differs from HEAD, two letters and a path each; nothing when all is clean."""
        out = self.git("status", "--porcelain", "-z", "--untracked-files=all")
        return [row for row in out.split("\0") if row]

    def write(self, path: str, text: str) -> None:
        """Write a file in the work tree."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="")


class Corpus:
    """A corpus with its store, and the person who owns it."""

    def __init__(self, folder: Path, name: str = "corpus") -> None:
        self.root = folder / name
        self.clock = Clock()
        self.person = Person(self.root)
        init_corpus(self.root, self.person.environ, self.clock)
        self.open()

    def open(self, wait_seconds: float = 20.0) -> None:
        """Open it anew, as the next process would."""
        self.repo = open_corpus(self.root, self.person.environ).repo()
        self.known = Scanned(self.repo)
        self.store = Store(self.repo, self.known, self.clock, Secrets(), wait_seconds=wait_seconds)

    def head(self) -> str:
        return self.person.git("rev-parse", "HEAD")

    def commits(self) -> int:
        return int(self.person.git("rev-list", "--count", "HEAD"))

    def message(self) -> str:
        return self.person.git("log", "-1", "--format=%B")

    def changed(self) -> list[str]:
        """Return letter and path of what the last commit changed, moves as two."""
        return self.person.git("show", "--format=", "--name-status", "--no-renames", "HEAD").splitlines()

    def data(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def reading(self, path: str) -> Reading:
        return read(self.data(path))

    def metas(self, path: str) -> dict[str, str]:
        return dict(self.reading(path).metas)

    def digest(self) -> str:
        """Return a name of everything in the work tree and of all refs."""
        everything = sorted(path for path in self.root.rglob("*") if path.is_file() and ".git" not in path.parts)
        return repr([(path, path.read_bytes()) for path in everything]) + self.head() + repr(self.person.status())

    def is_clean(self) -> bool:
        return self.person.status() == []


def claim(title: str, text: str = "", **more: object) -> NewMemory:
    """A semantic memory."""
    given: dict[str, object] = {"type": "semantic", **more}
    if "article_html" not in given:
        given["claim"] = text or f"{title} holds."
    return NewMemory(title=title, **given)  # type: ignore[arg-type]


def fsck(corpus: Corpus) -> str:
    done = subprocess.run(
        ["git", "-C", str(corpus.root), "fsck", "--strict"], capture_output=True, text=True, check=False
    )
    return re.sub(r"(?m)^(dangling|unreachable) .*\n?", "", done.stdout + done.stderr).strip()


def paths_of(results: Sequence[object]) -> list[object]:
    return [one.path for one in results]  # type: ignore[attr-defined]
