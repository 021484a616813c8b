"""Stop a job in a child process at its N-th write.

The child kills itself with SIGKILL when it is about to write for the N-th time (``kill``), does so after half of that
write (``half``), or finds the disk full from then on (``full``). A point of 0 runs to the end and tells the number of
writes. A write is a write, sync, truncation or deletion by SQLite, or ``os.write`` to a file, ``fsync``, ``ftruncate``,
``link``, ``replace``, ``unlink`` anywhere in the process; what goes through a pipe to another program is none.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import stat
import sys
import traceback
from collections.abc import Callable
from typing import Any

import apsw

from fabula.kernel.errors import FabulaError

WAYS = ("kill", "half", "full")


class Stopper:
    """Counts writes; the chosen one does not succeed."""

    def __init__(self, at: int, how: str) -> None:
        self.at = at
        self.how = how
        self.count = 0

    def point(self) -> None:
        """Count one step that is no writing of data."""
        self.count += 1
        if self.count == self.at and self.how != "full":
            os.kill(os.getpid(), signal.SIGKILL)

    def data(self, half: Callable[[], object], full: BaseException) -> None:
        """Count one writing of data; ``half`` does half of it, ``full`` is what a full disk raises."""
        self.count += 1
        if self.at and self.count >= self.at and self.how == "full":
            raise full
        if self.count == self.at:
            if self.how == "half":
                half()
            os.kill(os.getpid(), signal.SIGKILL)

    def install(self) -> None:
        """Count the writes of this process from now on."""
        write = os.write

        def counted_write(handle: int, data: Any) -> int:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return write(handle, data)
            full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self.data(lambda: write(handle, bytes(data)[: len(data) // 2]), full)
            return write(handle, data)

        os.write = counted_write
        for name in ("fsync", "ftruncate", "link", "replace", "unlink"):
            setattr(os, name, self._counted(getattr(os, name)))
        self.files = _vfs(self)
        sys.unraisablehook = lambda _: None  # refusals while a dropped connection closes

    def _counted(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **named: Any) -> Any:
            self.point()
            return call(*arguments, **named)

        return counted


def _vfs(stopper: Stopper) -> apsw.VFS:
    """Make SQLite's files count their writes."""

    class File(apsw.VFSFile):
        def __init__(self, name: Any, flags: Any) -> None:
            super().__init__("unix", name, flags)

        def excepthook(self, *_: Any) -> None:
            """Say nothing of a refusal that SQLite passes over."""

        def xWrite(self, data: bytes, offset: int) -> None:
            write = super().xWrite
            stopper.data(lambda: write(bytes(data)[: len(data) // 2], offset), apsw.FullError())
            write(data, offset)

        def xSync(self, flags: int) -> None:
            stopper.point()
            super().xSync(flags)

        def xTruncate(self, size: int) -> None:
            stopper.point()
            super().xTruncate(size)

    class Files(apsw.VFS):
        def __init__(self) -> None:
            super().__init__("counted", "unix", makedefault=True)

        def xOpen(self, name: Any, flags: Any) -> apsw.VFSFile:
            return File(name, flags)

        def xDelete(self, name: str, sync: bool) -> None:
            stopper.point()
            super().xDelete(name, sync)

    return Files()


def in_child(work: Callable[[], Any]) -> tuple[int, Any]:
    """Run ``work`` in a forked child. Returns its status (negative: the signal) and what it returned."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reading)
            result = json.dumps(work()).encode()
            with open(writing, "wb") as out:
                out.write(result)
            status = 0
        except BaseException as error:  # the parent reports it
            with open(writing, "wb") as out:
                out.write(json.dumps({"error": repr(error)}).encode())
        finally:
            os._exit(status)
    os.close(writing)
    with open(reading, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), json.loads(said or b"null")


def refused_at_close(error: apsw.FullError) -> str:
    """Return the code with which the job had ended when closing its database was refused; any other refusal is raised.

    SQLite itself says nothing when the checkpoint at closing finds no room: only files written in Python speak up.
    """
    if not any(frame.name == "Connection.close" for frame in traceback.extract_tb(error.__traceback__)):
        raise error
    return error.__context__.code if isinstance(error.__context__, FabulaError) else ""


def stopped(job: Callable[[], object], point: int, how: str) -> tuple[int, dict[str, Any]]:
    """Run a job in a child and stop it. Returns its status and ``{"code", "writes"}``, where it lived to say so."""

    def work() -> dict[str, Any]:
        stopper = Stopper(point, how)
        stopper.install()
        code = ""
        try:
            job()
        except FabulaError as error:
            code = error.code
        except apsw.FullError as error:
            code = refused_at_close(error)
        return {"code": code, "writes": stopper.count}

    return in_child(work)
