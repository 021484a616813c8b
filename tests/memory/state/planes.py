"""State planes for tests: a clock that is set by hand, ids that are drawn in order, corpora in real git."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "storage" / "git"))

from gitcorpus import Person, made

from fabula.memory.state.plane import StatePlane
from fabula.memory.store.excluding import ensure_excluded

A, B = "areas/inbox/a.html", "areas/inbox/b.html"
ARCHIVED = "archive/2026/areas/inbox/a.html"
DAY = 1_772_000_000_000
SECOND, MINUTE, HOUR = 1_000, 60_000, 3_600_000


class HandClock:
    """A clock that stands where it is put."""

    def __init__(self, now: int = DAY) -> None:
        self.now = now

    def now_ms(self) -> int:
        return self.now

    def pass_by(self, millis: int) -> None:
        self.now += millis


_numbers = itertools.count(1)


def counting(size: int) -> bytes:
    """Give bytes that were never given before, as a machine's entropy does."""
    return next(_numbers).to_bytes(size, "big")


def plane(root: Path, clock: HandClock, entropy: Callable[[int], bytes] = counting) -> StatePlane:
    """Return the state plane of a folder."""
    root.mkdir(parents=True, exist_ok=True)
    return StatePlane(root, clock, entropy)


def corpus(folder: Path) -> Person:
    """Make a corpus with two files, as a person sees it."""
    folder.mkdir(parents=True, exist_ok=True)
    person = made(folder, files={A: "one\n", B: "two\n"})
    ensure_excluded(person.root)
    return person


def clone(person: Person, folder: Path) -> Person:
    """Clone a corpus, as on another machine."""
    folder.mkdir(parents=True)
    person.git("clone", "--quiet", str(person.root), str(folder / "corpus"))
    other = Person(folder / "corpus")
    other.git("config", "user.name", "Bea")
    other.git("config", "user.email", "bea@example.org")
    ensure_excluded(other.root)
    return other
