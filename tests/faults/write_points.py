"""Stop a job at its N-th write, and see whether what is left can be used.

    python write_points.py PLAN.json        the points that the plan names
    python write_points.py                  every point of every job, many minutes; exit 1 when a record is wrong
    python write_points.py --every 9        every ninth point

For each point a child process runs the job on a copy of a state and, when it is about to write for the N-th time, kills
itself with SIGKILL (``kill``), does so after half of that write (``half``), or finds the disk full from then on
(``full``). A second child then opens what is left as a user would. One JSON object a point is printed: how the job
ended and what the second child saw. A point of 0 runs to the end and tells the number of writes.

A write is a write, sync, truncation or deletion by SQLite, or ``os.write``, ``fsync``, ``ftruncate``, ``link``,
``replace``, ``unlink`` anywhere in the process.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import apsw
from answers import access_to, answers, damage, unsealed

from fabula.kernel.errors import FabulaError

JOBS = ("first", "grown", "seal", "rebuild")
WAYS = ("kill", "half", "full")
SAMPLES = Path(__file__).resolve().parents[1] / "data" / "samples" / "home"


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


def prepare(job: str, folder: Path) -> dict[str, Any]:
    """Lay out a state and a user's home for a job, and return the plan without points."""
    state, user = folder / "state", folder / "user"
    state.mkdir(parents=True)
    shutil.copytree(SAMPLES, user)
    if job in {"grown", "rebuild"}:
        access = access_to(state, user)
        access.scan()
        access.close()
    if job == "grown":
        files = sorted((user / ".claude" / "projects").rglob("*.jsonl"))
        lines = files[0].read_bytes().splitlines(keepends=True)
        files[0].write_bytes(b"".join(lines[:3] + lines[4:]).replace(b"midnight", b"noon"))  # rewritten
        lines = files[3].read_bytes().splitlines(keepends=True)
        files[3].write_bytes(b"".join(lines) + lines[-1].replace(b'"uuid":"', b'"uuid":"new-'))  # grown
        files[-1].unlink()  # vanished
    return {"job": job, "state": str(state), "user": str(user), "work": str(folder)}


def run_job(job: str, home: Path, user: Path) -> None:
    """Do what is to be killed."""
    access = access_to(home, user)
    if job == "seal":
        access.seal()
    else:
        access.scan(rebuild=job == "rebuild")
    access.close()


def look(home: Path, user: Path) -> dict[str, Any]:
    """Use what a killed job left: scan again, then check every answer, the databases and the vault."""
    access = access_to(home, user)
    access.scan()
    found = answers(access)
    access.close()
    digests = {name: sha256("\n".join(rows).encode()).hexdigest() for name, rows in found.items()}
    return {"answers": digests, "damage": damage(home), "unsealed": unsealed(home)}


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


def try_point(plan: dict[str, Any], point: int, how: str) -> dict[str, Any]:
    """Stop the job at one point on a copy of the state, and look at what is left."""
    work = Path(plan["work"]) / f"{how}-{point}"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(plan["state"], work)
    user = Path(plan["user"])

    def job() -> dict[str, Any]:
        stopper = Stopper(point, how)
        stopper.install()
        code = ""
        try:
            run_job(plan["job"], work, user)
        except FabulaError as error:
            code = error.code
        except apsw.FullError as error:
            code = refused_at_close(error)
        return {"code": code, "writes": stopper.count}

    status, ended = in_child(job)
    seen = in_child(lambda: look(work, user))[1]
    shutil.rmtree(work)
    return {"point": point, "how": how, "status": status, "ended": ended, "seen": seen}


def everything(folder: Path, step: int) -> int:
    """Try every ``step``-th point of every job in every way. Returns how many left something wrong."""
    wrong = 0
    for job in JOBS:
        plan = prepare(job, folder / job)
        right = try_point(plan, 0, "kill")
        total = right["ended"]["writes"]
        for how in WAYS:
            found = [try_point(plan, point, how) for point in range(1 + WAYS.index(how), total + 1, step)]
            bad = [one["point"] for one in found if one["seen"] != right["seen"]]
            wrong += len(bad)
            print(f"{job}, {how}: {len(found)} of {total} write points, {len(bad)} wrong {bad[:20] or ''}", flush=True)
    return wrong


def main() -> int:
    """Work a plan off, or everything."""
    if len(sys.argv) != 2:
        with tempfile.TemporaryDirectory() as folder:
            return int(everything(Path(folder), int(sys.argv[2]) if sys.argv[1:2] == ["--every"] else 1) > 0)
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for point, how in plan["points"]:
        print(json.dumps(try_point(plan, point, how)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
