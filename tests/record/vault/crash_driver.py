"""Kill a vault's writer at each of its write steps in turn, and check what is left.

    python crash_driver.py FOLDER before|half|full

Every step of a commit is tried: writes, syncs, truncations and deletions of SQLite, and the same calls of ``os``. At
step N the writer is killed before it (``before``) or after half of the write (``half``), or finds the disk full
(``full``). What is left must be the state before the commit or after it, whole and verified, for a reader first and for
the next writer then, who repeats the work and gets the new state. Prints how many steps there were.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
from vault_builders import TickingClock, begin, contents, line_spans, open_vault, seal, transcript

from fabula.kernel.errors import FabulaError
from fabula.record.vault import filling
from fabula.record.vault.vault import Vault

OLD = transcript(40, seed=1)
NEW = transcript(90, seed=2) + b'{"image":"' + b"base64" * 6000 + b'"}\n'  # rolls packs over, in both classes
GROWN = b'{"grown":1}\n'
REMAINDER = {"before": 0, "half": 1, "full": 2}  # of which steps also the journal is lost: others each


class Stopper:
    """Counts write steps and stops at one."""

    def __init__(self, at: int, how: str) -> None:
        self.at, self.how, self.count = at, how, 0

    def step(self, half: Callable[[], object] = int, full: BaseException | None = None) -> None:
        self.count += 1
        if self.how == "full":
            if self.count >= self.at and full is not None:
                raise full
        elif self.count == self.at:
            if self.how == "half":
                half()
            os.kill(os.getpid(), signal.SIGKILL)

    def install(self) -> apsw.VFS:
        write = os.write

        def counted_write(handle: int, data: Any) -> int:
            full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self.step(lambda: write(handle, bytes(data)[: len(data) // 2]), full)
            return write(handle, data)

        os.write = counted_write
        for name in ("fsync", "ftruncate", "replace", "unlink", "mkdir"):
            setattr(os, name, self._counted(getattr(os, name)))
        return counting_files(self)

    def _counted(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **named: Any) -> Any:
            self.step()
            return call(*arguments, **named)

        return counted


def counting_files(stopper: Stopper) -> apsw.VFS:
    class File(apsw.VFSFile):
        def __init__(self, name: Any, flags: Any) -> None:
            super().__init__("unix", name, flags)

        def xWrite(self, data: bytes, offset: int) -> None:
            write = super().xWrite
            stopper.step(lambda: write(bytes(data)[: len(data) // 2], offset), apsw.FullError())
            write(data, offset)

        def xSync(self, flags: int) -> None:
            stopper.step()
            super().xSync(flags)

        def xLock(self, level: int) -> None:
            try:
                super().xLock(level)
            except apsw.IOError as error:  # a file opened for reading cannot be locked for writing: no news to SQLite
                raise apsw.BusyError from error

        def xTruncate(self, size: int) -> None:
            stopper.step()
            super().xTruncate(size)

    class Files(apsw.VFS):
        def __init__(self) -> None:
            super().__init__("counting", "unix", makedefault=True)

        def xOpen(self, name: Any, flags: Any) -> apsw.VFSFile:
            return File(name, flags)

        def xDelete(self, name: str, sync: bool) -> None:
            stopper.step()
            super().xDelete(name, sync)

    return Files()


def small() -> None:
    filling.FRAME_CONTENT = 4096
    filling.PACK_LIMIT = 8192


def change(folder: Path) -> None:
    """One commit: a new file, and an old one that grew."""
    with open_vault(folder) as vault:
        source = vault.source("host", "/old", "session", "s")
        grown = vault.current(source.id)
        assert grown is not None
        vault.append(grown.id, 0, OLD + GROWN, line_spans(OLD + GROWN))
        if vault.current(vault.source("host", "/new", "session", "s").id) is None:
            new = begin(vault, "/new")
            vault.append(new.id, 0, NEW, line_spans(NEW))
        vault.commit()


BEFORE = {("/old", 0): OLD}
AFTER = {("/old", 0): OLD + GROWN, ("/new", 0): NEW}


def check(folder: Path, when: str, *, bereft: bool) -> None:
    with open_vault(folder, read_only=True) as vault:
        found = contents(vault)
        assert found in (BEFORE, AFTER), f"{when}: {[(k, len(v)) for k, v in found.items()]}"
        damages = list(vault.verify())
        assert not damages, f"{when}: {damages}"
    if bereft:
        check_without_journal(folder, when)
    change(folder)
    with open_vault(folder, read_only=True) as vault:
        assert contents(vault) == AFTER, when
        assert not list(vault.verify()), when
        known = {row[0] for row in vault.journal.rows("select id from packs")}
        assert set(filling.packs_on_disk(folder)) == known, f"{when}: packs are left over"


def check_without_journal(folder: Path, when: str) -> None:
    """Should the journal be lost on top of it, its copy gives back the same."""
    bereft = folder.with_name("bereft")
    shutil.rmtree(bereft, ignore_errors=True)
    shutil.copytree(folder, bereft)
    for path in bereft.glob("journal.db*"):
        path.unlink()
    Vault.repair(bereft, TickingClock())
    with open_vault(bereft, read_only=True) as vault:
        assert contents(vault) in (BEFORE, AFTER), f"{when}: without the journal"
        hit = [span for damage in vault.verify() for span in damage.touched]
        assert not hit, f"{when}: without the journal"  # what was cut off while written may be named, it was no file's


def attempt(folder: Path, at: int, how: str) -> bool:
    """Run the change in a child that is stopped at a step; say whether it was."""
    child = os.fork()
    if child == 0:
        files = Stopper(at, how).install()
        try:
            change(folder)
        except FabulaError as error:
            os._exit(3 if error.code == "ERR_DISK" else 4)
        except BaseException:
            traceback.print_exc()
            os._exit(5)
        del files
        os._exit(0)
    _, status = os.waitpid(child, 0)
    stopped = os.WIFSIGNALED(status) if how != "full" else os.WEXITSTATUS(status) == 3
    assert stopped or status == 0, f"step {at} {how}: status {status}"
    return stopped


def main(work: Path, how: str) -> None:
    small()
    template, folder = work / "template", work / "vault"
    with open_vault(template) as vault:
        seal(vault, "/old", OLD)
    at = 0
    stopped = True
    while stopped:
        at += 1
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(template, folder)
        stopped = attempt(folder, at, how)
        check(folder, f"step {at} {how}", bereft=at % 4 == REMAINDER[how])
    print(at - 1)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
