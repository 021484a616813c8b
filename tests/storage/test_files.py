"""Files are written whole, privately and durably, or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from fabula.kernel.errors import FabulaError
from fabula.storage.files import disk_error, ensure_folder, sync_folder, write_atomic


def test_a_file_is_replaced_whole_and_is_private(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"old")
    write_atomic(file, b"new")
    assert file.read_bytes() == b"new"
    assert file.stat().st_mode & 0o777 == 0o600
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_a_write_that_fails_leaves_the_old_file_and_no_rubbish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"old")

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FabulaError) as caught:
        write_atomic(file, b"new")
    assert caught.value.code == "ERR_DISK"
    assert file.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_a_folder_is_made_with_its_parents_for_the_user_alone(tmp_path: Path) -> None:
    ensure_folder(tmp_path / "a" / "b")
    ensure_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").stat().st_mode & 0o077 == 0


def test_a_file_where_a_folder_should_be_is_a_path_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    with pytest.raises(FabulaError) as caught:
        ensure_folder(tmp_path / "a" / "b")
    assert caught.value.code == "ERR_PATH"


def test_the_remedy_names_what_is_there_to_be_made_writable(tmp_path: Path) -> None:
    error = PermissionError(errno.EACCES, "Permission denied")
    assert disk_error(error, tmp_path / "new").suggestions == (f"make it writable: chmod -R u+rwX {tmp_path}",)
    spaced = tmp_path / "two words"
    spaced.mkdir()
    assert disk_error(error, spaced).suggestions == (f"make it writable: chmod -R u+rwX '{spaced}'",)
    assert disk_error(error, tmp_path).suggestions == (f"make it writable: chmod -R u+rwX {tmp_path}",)
    full = disk_error(OSError(errno.ENOSPC, "full"), tmp_path / "new" / "deeper")
    assert full.suggestions == (f"free some space, then repeat: df -h {tmp_path}",)
    mounted = disk_error(OSError(errno.EROFS, "read-only"), tmp_path / "new")
    assert (mounted.code, *mounted.suggestions) == (
        "ERR_READ_ONLY", f"mount its disk for writing: findmnt --target {tmp_path}",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOSPC, "ERR_DISK"),
        (errno.EIO, "ERR_DISK"),
        (errno.EROFS, "ERR_READ_ONLY"),
        (errno.EACCES, "ERR_READ_ONLY"),
        (errno.ENOENT, "ERR_PATH"),
    ],
)
def test_what_the_disk_refuses_has_a_code(number: int, code: str) -> None:
    error = disk_error(OSError(number, os.strerror(number)), "/somewhere")
    assert error.code == code
    assert "/somewhere" in error.message


def test_a_file_system_that_cannot_sync_folders_is_tolerated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(number: int) -> None:
        def fsync(handle: int) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(os, "fsync", fsync)

    refuse(errno.EINVAL)
    sync_folder(tmp_path)
    refuse(errno.EIO)
    with pytest.raises(OSError, match="Input/output"):
        sync_folder(tmp_path)
