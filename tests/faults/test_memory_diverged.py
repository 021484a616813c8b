"""Two clones of a memory that went apart are one again by ``fabula memory merge``, or a conflict that names both."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from command import User

POOL = "areas/inbox/the-pool-is-64.html"


def git(root: Path, *words: str) -> str:
    command = ("git", "-C", str(root), "-c", "user.name=A", "-c", "user.email=a@example.org", *words)
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


class Apart:
    """Two machines' clones of one memory."""

    def __init__(self, folder: Path) -> None:
        (folder / "user").mkdir()
        self.user = User(folder / "user")
        assert self.user.run("init", "--memory").status == 0
        self.here = self.user.record / "memory"
        self.there = folder / "there"
        self.write(self.here, "The pool is 64.")
        git(folder, "clone", "--quiet", str(self.here), str(self.there))
        git(self.here, "remote", "add", "there", str(self.there))

    def run(self, root: Path, *words: str) -> Any:
        return self.user.run(*words, "--corpus", str(root))

    def write(self, root: Path, claim: str, *more: str) -> str:
        done = self.run(root, "memory", "write", "--type", "semantic", "--claim", claim, *more)
        assert done.status == 0, done.out
        return str(done.data["path"])

    def merge(self) -> Any:
        git(self.here, "fetch", "--quiet", "there")
        return self.run(self.here, "memory", "merge", "there/main")


@pytest.fixture
def apart(tmp_path: Path) -> Apart:
    return Apart(tmp_path)


def claims(apart: Apart, *more: str) -> list[str]:
    return sorted(one["claim"] for one in apart.run(apart.here, "memory", "list", *more).data["memories"])


def test_what_both_wrote_is_there_and_the_index_is_as_one_made_anew(apart: Apart) -> None:
    apart.write(apart.here, "Here it rains.")
    apart.write(apart.there, "There it snows.")
    assert apart.run(apart.there, "memory", "correct", POOL, "--claim", "The pool is 32.").status == 0
    merged = apart.merge()
    assert (merged.status, merged.data["kind"]) == (0, "merge")
    assert claims(apart) == ["Here it rains.", "The pool is 32.", "There it snows."]
    assert len(git(apart.here, "log", "-1", "--format=%P").split()) == 2
    before = apart.run(apart.here, "memory", "list", "--include-archived").data["memories"]
    assert apart.run(apart.here, "memory", "index", "rebuild").status == 0
    assert apart.run(apart.here, "memory", "list", "--include-archived").data["memories"] == before
    assert git(apart.here, "status", "--porcelain") == git(apart.here, "fsck", "--strict", "--no-dangling") == ""
    assert apart.merge().data["kind"] == "already"
    git(apart.there, "pull", "--quiet", "--ff-only", str(apart.here), "main")
    assert git(apart.there, "rev-parse", "HEAD") == git(apart.here, "rev-parse", "HEAD")


def test_what_both_changed_otherwise_is_a_conflict_with_both_texts_named_and_nothing_is_changed(apart: Apart) -> None:
    for root, said in ((apart.here, "The pool is 16."), (apart.there, "The pool is 32.")):
        place = root / POOL
        place.write_text(place.read_text().replace("The pool is 64.", said))
        assert apart.run(root, "memory", "commit").status == 0
    before = git(apart.here, "rev-parse", "HEAD")
    refused = apart.merge()
    assert (refused.status, refused.code) == (1, "ERR_WRITE_CONFLICT"), refused.out
    for root in (apart.here, apart.there):
        assert git(root, "rev-parse", f"HEAD:{POOL}")[:7] in refused.out
    assert git(apart.here, "rev-parse", "HEAD") == before
    assert git(apart.here, "status", "--porcelain") == ""
    assert claims(apart) == ["The pool is 16."]
