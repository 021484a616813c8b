"""A corpus that cannot be written: reads answer and say what is not kept, writes say why they are refused."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import Done, User

PATH = "areas/inbox/the-pool-is-64.html"
READS: tuple[tuple[str, ...], ...] = (
    ("memory", "search", "pool", "--all"), ("memory", "list"), ("memory", "read", PATH), ("memory", "history", PATH),
    ("memory", "neighbors", PATH), ("memory", "index", "status"), ("memory", "index", "update"), ("memory", "tasks"),
)  # fmt: skip
WRITES: tuple[tuple[str, ...], ...] = (
    ("memory", "write", "--type", "semantic", "--claim", "Two."), ("memory", "correct", PATH, "--claim", "It is 32."),
    ("memory", "archive", PATH), ("memory", "reinforce", PATH, "--signal", "positive"), ("memory", "state", "export"),
    ("memory", "commit"), ("remember", "The sky is blue."),
)  # fmt: skip


@pytest.fixture
def user(tmp_path: Path) -> User:
    (tmp_path / "user").mkdir()
    user = User(tmp_path / "user")
    assert user.run("init", "--memory").status == 0
    assert user.run("memory", "write", "--type", "semantic", "--claim", "The pool is 64.").status == 0
    return user


def corpus_of(user: User) -> Path:
    return user.record / "memory"


@pytest.fixture
def frozen(user: User) -> Iterator[User]:
    """Take every right to write from the corpus, as far as a user without root's rights is concerned."""
    root = corpus_of(user)
    places = [root, *root.rglob("*")]
    modes = {place: place.stat().st_mode for place in places}
    for place, mode in modes.items():
        place.chmod(mode & 0o555)
    yield user
    for place, mode in modes.items():
        place.chmod(mode)


def all_bytes(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("words", READS, ids=" ".join)
def test_a_read_answers_and_writes_nothing(frozen: User, words: tuple[str, ...]) -> None:
    before = all_bytes(corpus_of(frozen))
    done = frozen.run(*words, bound=True)
    assert done.status == 0, done.out
    assert all_bytes(corpus_of(frozen)) == before
    if words[1] == "read":
        assert not done.data["logged"]
        assert any("not counted" in notice for notice in done.data["notices"])


@pytest.mark.parametrize("words", WRITES, ids=" ".join)
def test_a_write_is_refused_and_says_that_it_is_read_only(frozen: User, words: tuple[str, ...]) -> None:
    before = all_bytes(corpus_of(frozen))
    done = frozen.run(*words, bound=True)
    assert (done.status, done.code) == (1, "ERR_READ_ONLY"), done.out
    assert all_bytes(corpus_of(frozen)) == before


def test_what_a_person_committed_is_found_though_the_index_cannot_be_written_and_that_is_said(user: User) -> None:
    corpus = corpus_of(user)
    text = (corpus / PATH).read_text().replace("The pool is 64.", "Tulips are red.")
    (corpus / "areas" / "inbox" / "tulips.html").write_text(text)
    folder = corpus / ".fabula"
    modes = {place: place.stat().st_mode for place in (folder, *folder.rglob("*"))}
    for place, mode in modes.items():
        place.chmod(mode & 0o555)
    try:
        done = user.run("memory", "search", "tulips", "--all", bound=True)
    finally:
        for place, mode in modes.items():
            place.chmod(mode)
    assert [hit["path"] for hit in done.data["hits"]] == ["areas/inbox/tulips.html"]
    assert any("cannot be written" in notice for notice in done.data["notices"])


def can_mount() -> bool:
    """Whether this user may have a table of mounts of their own."""
    if shutil.which("unshare") is None or os.geteuid() != 0:
        return False
    words = ["unshare", "-m", "sh", "-c", "mount --bind /tmp /tmp && mount -o remount,ro,bind /tmp"]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def mounted(user: User, *words: str) -> Done:
    """Run a command that sees the corpus on a disk that is mounted for reading alone; nobody else sees it so."""
    script = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
    command = ["unshare", "-m", "sh", "-c", script, str(corpus_of(user)), user.program(), *words, "--json"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, cwd=user.home, env=user.environment()
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.mark.skipif(not can_mount(), reason="only root may mount a folder for reading alone")
def test_on_a_disk_mounted_for_reading_alone_it_is_the_same(user: User) -> None:
    before = all_bytes(corpus_of(user))
    for words in READS:
        assert mounted(user, *words).status == 0
    for words in WRITES:
        refused = mounted(user, *words)
        assert (refused.status, refused.code) == (1, "ERR_READ_ONLY"), (words, refused.out)
    assert all_bytes(corpus_of(user)) == before
