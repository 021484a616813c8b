"""The index is disposable: damaged, stale, missing, half made or not writable, the answers are right."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest
from indexed import Shelf, contents, found, memory, paths

from fabula.kernel.errors import FabulaError
from fabula.memory.index import memory_index, places, rebuilding
from fabula.memory.index.values import Filters
from fabula.storage.locks import FileLock

A, B = "areas/inbox/a.html", "areas/inbox/b.html"


@pytest.fixture
def shelf(empty: Shelf) -> Shelf:
    empty.commit(**{A: memory("Drain the pool first."), B: memory("Pause the replica.")})
    return empty


def place_of(shelf: Shelf) -> Path:
    return shelf.root / ".fabula" / "index.db"


def test_opening_a_corpus_writes_no_tracked_file(shelf: Shelf) -> None:
    with shelf.open() as index:
        index.refresh()
    assert shelf.git("status", "--porcelain", "--untracked-files=all") == ""


@pytest.mark.parametrize("damage", [b"", b"no database at all" * 300, None])
def test_a_damaged_index_is_made_anew_without_a_word(shelf: Shelf, damage: bytes | None) -> None:
    with shelf.open() as index:
        index.refresh()
    place = place_of(shelf)
    data = place.read_bytes()
    place.write_bytes(data[:100] + b"\xff" * (len(data) - 100) if damage is None else damage)
    for ending in ("-wal", "-shm"):
        place.with_name(place.name + ending).unlink(missing_ok=True)
    with shelf.open() as index:
        index.refresh()
        assert paths(index) == [A, B]
        assert found(index, "pool") == [A]


def test_damage_that_shows_while_it_is_asked_is_mended_and_asked_again(shelf: Shelf) -> None:
    with shelf.open() as index:
        index.refresh()
    place = place_of(shelf)
    connection = apsw.Connection(str(place))
    root = connection.execute("select rootpage from sqlite_schema where name = 'texts'").fetchone()
    size = connection.pragma("page_size")
    connection.close()
    assert root is not None
    data = bytearray(place.read_bytes())
    data[(root[0] - 1) * size : root[0] * size] = b"\xff" * size
    place.write_bytes(bytes(data))
    with shelf.open() as index:
        assert index.ask("select count(*) from texts where body like '%pool%'") == [(1,)]
        assert paths(index) == [A, B]


@pytest.mark.parametrize("version", [0x7FFFFFFF, -1])
def test_an_index_of_another_version_is_made_anew(shelf: Shelf, version: int) -> None:
    with shelf.open() as index:
        index.refresh()
        index.connection.execute(f"pragma user_version={version}")
        index.connection.execute("pragma wal_checkpoint(truncate)").fetchall()
    with shelf.open() as index:
        index.refresh()
        assert paths(index) == [A, B]


def test_who_has_a_removed_index_open_goes_on_with_the_new_one(shelf: Shelf) -> None:
    with shelf.open() as old:
        old.refresh()
        rebuilding.remove_database(place_of(shelf))
        with shelf.open() as new:
            new.refresh()
            shelf.commit(**{"areas/c.html": memory("Third.")})
            old.refresh()
            assert paths(old) == ["areas/c.html", A, B]
            assert paths(new) == ["areas/c.html", A, B]
    with shelf.open() as again:
        assert again.refresh().unchanged


def test_vectors_and_moves_outlive_a_rebuild_and_vectors_of_nothing_do_not(shelf: Shelf) -> None:
    with shelf.open() as index:
        index.refresh()
        shelf.git("mv", A, "areas/c.html")
        index.refresh()
        ((text,),) = index.ask("select text_hash from files where path = ?", (B,))
        before = index.stamp()
        assert index.keep_vectors([("model@2", text, b"12"), ("model@2", b"\0" * 32, b"34")])
        assert index.stamp() != before
        moves = index.moves_after(0)
        assert index.rebuild().rebuilt
        assert index.ask("select space, hash, vector from vectors") == [("model@2", text, b"12")]
        assert index.moves_after(0) == moves


def test_readers_see_all_of_the_old_or_all_of_the_new(shelf: Shelf) -> None:
    for number in range(150):
        shelf.put(f"areas/many/{number}.html", memory(f"Number {number}."))
    shelf.commit()
    with shelf.open() as first:
        first.refresh()
    counts: set[int] = set()
    done = threading.Event()

    def read() -> None:
        with shelf.open() as reader:
            while not done.is_set():
                counts.add(reader.count(Filters()))

    reading = threading.Thread(target=read)
    reading.start()
    try:
        with shelf.open() as index:
            for _ in range(5):
                index.rebuild()
    finally:
        done.set()
        reading.join()
    assert counts == {152}


def test_a_rebuild_leaves_no_log_behind(shelf: Shelf) -> None:
    with shelf.open() as index:
        index.refresh()
        index.rebuild()
        log = place_of(shelf).with_name("index.db-wal")
        assert not log.exists() or log.stat().st_size == 0
        assert not place_of(shelf).with_name("index.db.new").exists()


def test_another_process_that_writes_long_leaves_an_older_answer_and_says_so(shelf: Shelf) -> None:
    with shelf.open() as index:
        index.refresh()
        shelf.commit(**{"areas/c.html": memory("Third.")})
        with FileLock(shelf.root / ".fabula" / "index.lock"):
            report = index.refresh(wait_seconds=0.0)
            assert report.notices
            assert paths(index) == [A, B]
        assert index.refresh().added == ["areas/c.html"]


def test_a_full_disk_leaves_an_older_answer_and_says_so(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def __init__(self, *_: object) -> None: ...

        def run(self, *_: object, **__: object) -> None:
            raise apsw.FullError("full")

    with shelf.open() as index:
        index.refresh()
        shelf.commit(**{"areas/c.html": memory("Third.")})
        with monkeypatch.context() as patch:
            patch.setattr(memory_index, "Pass", Full)
            assert "full" in index.refresh().notices[0]
        assert index.refresh().added == ["areas/c.html"]


@contextmanager
def unwritable(monkeypatch: pytest.MonkeyPatch, root: Path) -> Iterator[None]:
    """Let nothing be written in a corpus, also for a user whom permissions do not bind."""
    whole = places.open_database

    def refuses(path: Path, **how: object) -> apsw.Connection:
        if path.is_relative_to(root):
            raise FabulaError("ERR_READ_ONLY", f"{path}: read-only")
        return whole(path, **how)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(places, "open_database", refuses)
        yield


def test_a_corpus_that_cannot_be_written_is_answered_for_and_it_is_said(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with unwritable(monkeypatch, shelf.root), shelf.open() as index:
        index.refresh()
        assert paths(index) == [A, B]
        assert index.status().place == "memory"
        assert "memory" in index.notices[0]
        shelf.commit(**{"areas/c.html": memory("Third.")})
        assert index.refresh().added == ["areas/c.html"]
        assert index.rebuild().added == ["areas/c.html", A, B]
    with unwritable(monkeypatch, shelf.root):
        with shelf.open(tmp_path / "scratch") as index:
            assert index.refresh().rebuilt
            assert index.status().place == "elsewhere"
            assert str(tmp_path / "scratch") in index.notices[0]
        with shelf.open(tmp_path / "scratch") as index:
            assert index.refresh().unchanged


def test_an_index_that_can_only_be_read_is_used_while_it_is_right(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    with shelf.open() as index:
        index.refresh()
        index.refresh()
        index.connection.execute("pragma wal_checkpoint(truncate)").fetchall()
    with unwritable(monkeypatch, shelf.root), shelf.open() as index:
        assert index.refresh().unchanged
        assert index.status().place == "corpus"
        assert not index.notices
        assert not index.keep_vectors([("model@2", b"x" * 32, b"1")])
        shelf.commit(**{"areas/c.html": memory("Third.")})
        index.refresh()
        assert index.status().place == "memory"
        assert paths(index) == ["areas/c.html", A, B]


_REBUILDER = """
import os, sys
from pathlib import Path
from fabula.kernel.clock import SystemClock
from fabula.memory.index import rebuilding
from fabula.memory.index.opening import open_index
from fabula.storage.git.repo import Repo
root = Path(sys.argv[1])
repo = Repo(root, dict(os.environ))
with open_index(root, lambda: repo, SystemClock()) as index:
    print("ready", flush=True)
    while True:
        index.rebuild()
"""


def test_a_rebuild_that_is_killed_leaves_a_whole_index(shelf: Shelf) -> None:
    for number in range(60):
        shelf.put(f"areas/many/{number}.html", memory(f"Number {number}."))
    shelf.commit()
    with shelf.open() as index:
        index.refresh()
        whole = contents(index)
    for wait in (0.0, 0.01, 0.02, 0.03, 0.05, 0.08):
        command = (sys.executable, "-c", _REBUILDER, str(shelf.root))
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=shelf.environ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(wait)
            os.kill(process.pid, signal.SIGKILL)
        with shelf.open() as index:
            index.refresh()
            assert contents(index) == whole
    with shelf.open() as index:
        index.rebuild()
        assert contents(index) == whole
    left = {file.name for file in (shelf.root / ".fabula").iterdir()}
    assert left <= {"index.db", "index.db-wal", "index.db-shm", "index.lock"}


_WRITER = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from indexed import memory
from fabula.kernel.clock import SystemClock
from fabula.memory.index.opening import open_index
from fabula.storage.git.repo import Repo
from fabula.storage.git.values import Put
root, name = Path(sys.argv[1]), sys.argv[2]
with Repo(root, dict(os.environ)) as repo, open_index(root, lambda: repo, SystemClock()) as index:
    for number in range(12):
        path, data = f"areas/{name}/{number}.html", memory(f"Number {number} of {name}.")
        with repo.writing(60) as turn:
            index.bring_to(turn.head[0])
            done = turn.commit([Put(path, data)], "memhtml(write): one\\n", "1700000000 +0000")
            index.took(done, {path: data})
        assert index.is_known(path)
        index.refresh()
"""


def test_many_processes_write_and_the_index_equals_a_rebuild(shelf: Shelf) -> None:
    command = (sys.executable, "-c", _WRITER, str(shelf.root))
    here = str(Path(__file__).parent)
    processes = [subprocess.Popen((*command, name, here), env=shelf.environ) for name in ("one", "two", "three")]
    for process in processes:
        assert process.wait(120) == 0
    with shelf.open() as index:
        index.refresh()
        assert index.count(Filters()) == 2 + 3 * 12
        followed = contents(index)
        index.rebuild()
        assert contents(index) == followed
