"""New files: whole or not there, never over another, and nothing left behind by processes that died."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fabula.kernel.errors import FabulaError
from fabula.storage.files import TEMPORARY, clear_temporary, create_atomic


def test_a_new_file_is_private_and_alone(tmp_path: Path) -> None:
    path = tmp_path / "new"
    create_atomic(path, b"bytes\n")
    assert path.read_bytes() == b"bytes\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("links", [True, False])
def test_what_is_there_is_never_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    if not links:
        monkeypatch.setattr(os, "link", without_links)
    path = tmp_path / "there"
    path.symlink_to("nowhere")
    with pytest.raises(FabulaError) as error:
        create_atomic(path, b"other")
    assert error.value.code == "ERR_PATH"
    assert [entry.name for entry in tmp_path.iterdir()] == ["there"]


def test_where_there_are_no_links_a_rename_gives_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", without_links)
    create_atomic(tmp_path / "new", b"bytes")
    assert [entry.name for entry in tmp_path.iterdir()] == ["new"]


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(FabulaError) as error:
        create_atomic(tmp_path / "new", b"bytes")
    assert error.value.code == "ERR_DISK"
    assert list(tmp_path.iterdir()) == []


def test_files_of_dead_processes_go_and_all_others_stay(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    stays = {f".a.{os.getppid()}{TEMPORARY}", f"a.{gone.pid}{TEMPORARY}", f".a.x{TEMPORARY}", ".a.1.tmp"}
    for name in (*stays, f".a.{gone.pid}{TEMPORARY}"):
        (tmp_path / name).write_bytes(b"")
    clear_temporary(tmp_path)
    assert {entry.name for entry in tmp_path.iterdir()} == stays
    clear_temporary(tmp_path / "missing")


def without_links(*_: object) -> None:
    raise OSError(errno.EPERM, "no links here")
