"""One holder at a time, between processes and within one; a crash gives the lock back."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from fabula.kernel.errors import FabulaError
from fabula.storage.locks import FileLock

HOLD = """
import sys, time
from pathlib import Path
from fabula.storage.locks import FileLock
with FileLock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_holder_is_refused_and_told_what_to_do(tmp_path: Path) -> None:
    with FileLock(tmp_path / "lock"):
        assert not FileLock(tmp_path / "lock").acquire()
        with pytest.raises(FabulaError) as caught, FileLock(tmp_path / "lock"):
            raise AssertionError
    assert caught.value.code == "ERR_LOCKED"
    assert caught.value.suggestions


def test_a_lock_that_was_given_back_is_free(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock")
    assert lock.acquire()
    lock.release()
    lock.release()
    assert FileLock(tmp_path / "lock").acquire()


def test_a_killed_holder_gives_the_lock_back_at_once(tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path / "lock")], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    assert not FileLock(tmp_path / "lock").acquire()
    holder.kill()
    holder.wait()
    holder.stdout.close()
    assert FileLock(tmp_path / "lock", wait_seconds=5).acquire()


def test_waiting_ends_after_the_time_named(tmp_path: Path) -> None:
    with FileLock(tmp_path / "lock"):
        begun = time.monotonic()
        assert not FileLock(tmp_path / "lock", wait_seconds=0.1).acquire()
        assert time.monotonic() - begun >= 0.1


def test_a_lock_in_a_folder_that_does_not_exist_is_a_path_error(tmp_path: Path) -> None:
    with pytest.raises(FabulaError) as caught:
        FileLock(tmp_path / "nowhere" / "lock").acquire()
    assert caught.value.code == "ERR_PATH"
