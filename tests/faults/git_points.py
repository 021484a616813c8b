"""Stop a commit at its N-th step, and see what a person and the next Fabula find.

    python git_points.py PLAN.json        the points that the plan names
    python git_points.py                  every point of every job; exit 1 when anything is wrong
    python git_points.py --every 5        every fifth point

For each point a child makes one commit on a copy of a repository in which a person has staged, changed and untracked
files, and kills itself with SIGKILL when it is about to take its N-th step (``kill``), does so after half of a write
(``half``), or finds the disk full from then on (``full``). Then the repository is looked at with git alone, opened by
Fabula, looked at again, and written to once more. One JSON object a point is printed; ``wrong`` lists what is not as it
should be. A point of 0 runs to the end and tells the number of steps.

A step is ``os.write`` to a file, ``fsync``, ``link``, ``replace``, ``unlink``, ``mkdir``, ``rmdir``, the start of a git
process, or its end.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "storage" / "git"))

from gitcorpus import AT, Person, made

from fabula.kernel.errors import FabulaError
from fabula.storage.git.repo import Repo
from fabula.storage.git.values import Change, Move, Put, Remove

WAYS = ("kill", "half", "full")
FIRST = {f"areas/inbox/m{number}.html": f"<p>{number}</p>\n" for number in range(6)}
PERSON = ["A  staged.html", " M areas/inbox/m5.html", "?? loose.html"]


def changes_of(job: str, person: Person) -> list[Change]:
    """Return what a job commits."""
    if job == "write":
        return [Put("projects/new/x.html", b"<p>x</p>\n")]
    if job == "correct":
        return [
            Put("areas/inbox/m0-2.html", b"<p>new</p>\n"),
            Move("areas/inbox/m0.html", "archive/2026/areas/inbox/m0.html", data=b"<p>0</p><p>stamped</p>\n"),
            Put("areas/inbox/m1.html", b"<p>one</p>\n", replaces=person.blob("areas/inbox/m1.html")),
            Remove("areas/inbox/m2.html"),
        ]
    return [Put(f"areas/t{number}/x{number}.html", b"<p>%d</p>\n" % number) for number in range(26)]


JOBS = ("write", "correct", "batch")


class Stopper:
    """Counts steps; the chosen one is not taken."""

    def __init__(self, at: int, how: str) -> None:
        self.at = at
        self.how = how
        self.count = 0
        self._lock = threading.Lock()

    def _next(self) -> int:
        with self._lock:
            self.count += 1
            return self.count

    def point(self) -> None:
        """Count one step that writes no data."""
        if self._next() == self.at and self.how != "full":
            os.kill(os.getpid(), signal.SIGKILL)

    def install(self) -> None:
        """Count the steps of this process from now on."""
        write = os.write

        def counted_write(handle: int, data: Any) -> int:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return write(handle, data)  # a pipe to git
            number = self._next()
            if self.at and number >= self.at and self.how == "full":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if number == self.at:
                if self.how == "half":
                    write(handle, bytes(data)[: len(data) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return write(handle, data)

        os.write = counted_write
        for name in ("fsync", "link", "replace", "unlink", "mkdir", "rmdir"):
            setattr(os, name, self._counted(getattr(os, name)))
        subprocess.run = self._around(subprocess.run)  # type: ignore[assignment]

    def _counted(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **named: Any) -> Any:
            self.point()
            return call(*arguments, **named)

        return counted

    def _around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **named: Any) -> Any:
            self.point()
            done = call(*arguments, **named)
            self.point()
            return done

        return counted


def prepare(job: str, work: Path) -> dict[str, Any]:
    """Make the state before a job, and the one after it; return the plan without points."""
    person = made(work / job / "before", files=FIRST)
    person.write("staged.html", "mine")
    person.git("add", "staged.html")
    person.write("areas/inbox/m5.html", "changed by hand")
    person.write("loose.html", "mine")
    return {"job": job, "work": str(work / job)}


def tried(plan: dict[str, Any], at: int, how: str) -> dict[str, Any]:
    """Try one point on a copy."""
    work = Path(plan["work"])
    shutil.rmtree(work / "try", ignore_errors=True)
    shutil.copytree(work / "before", work / "try", symlinks=True)
    person = Person(work / "try" / "corpus")
    before = listing(person)
    wanted = changes_of(plan["job"], person)
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        _run(person, wanted, Stopper(at, how), write)
    os.close(write)
    with open(read, "rb") as stream:
        ended = json.loads(stream.read() or b"{}")
    _, status = os.waitpid(child, 0)
    wrong = [ended["wrong"]] if "wrong" in ended else []
    wrong += seen(person, before, wanted)
    if how == "full" and at and (ended.get("code") not in {"ERR_DISK", "ERR_GIT", ""}):
        wrong.append(f"ended with {ended}")
    return {
        "job": plan["job"],
        "point": at,
        "how": how,
        "status": os.waitstatus_to_exitcode(status),
        "ended": ended,
        "new": listing(person) != before,
        "wrong": wrong,
    }


def _run(person: Person, wanted: list[Change], stopper: Stopper, write: int) -> None:
    """Make the commit in this child, and say how it ended."""
    told: dict[str, Any] = {"code": ""}
    out = os.write
    signal.alarm(30)
    try:
        repo = Repo(person.root, person.environ)
        stopper.install()
        repo.commit(wanted, "ours\n", AT)
    except FabulaError as error:
        told = {"code": error.code, "message": error.message}
    except BaseException as error:
        told = {"code": "", "wrong": repr(error)}
    finally:
        told["steps"] = stopper.count
        out(write, json.dumps(told).encode())
        os._exit(0)


def listing(person: Person) -> dict[str, str]:
    """Return path -> blob id of all files at HEAD."""
    rows = person.git("ls-tree", "-r", "HEAD").splitlines()
    return {row.split("\t")[1]: row.split()[2] for row in rows}


def expected(before: dict[str, str], wanted: list[Change], person: Person) -> dict[str, str]:
    """Return what the files at HEAD are after the changes."""
    after = dict(before)

    def blob(data: bytes) -> str:
        words = ("git", "hash-object", "--stdin")
        return (
            subprocess.run(words, input=data, capture_output=True, check=True, cwd=person.root).stdout.decode().strip()
        )

    for change in wanted:
        if isinstance(change, Put):
            after[change.path] = blob(change.data)
        elif isinstance(change, Remove):
            del after[change.path]
        else:
            moved = after.pop(change.source)
            after[change.target] = moved if change.data is None else blob(change.data)
    return after


def seen(person: Person, before: dict[str, str], wanted: list[Change]) -> list[str]:
    """Look at what is left, as git alone shows it and as Fabula opens it; return what is wrong."""
    wrong = []
    after = expected(before, wanted, person)
    if person.git("fsck", "--full", "--strict", "--no-dangling", check=False):
        wrong.append("fsck before opening")
    found = listing(person)
    if found not in (before, after):
        wrong.append("HEAD is neither old nor new")
    with person.repo() as repo:
        if sorted(person.status()) != sorted(PERSON):
            wrong.append(f"status after opening: {person.status()[:5]}")
        if listing(person) != found:
            wrong.append("opening changed HEAD")
        left = sorted(path.name for path in (person.root / ".git" / "fabula").glob("*"))
        if not set(left) <= {"lock", "mark"} or (person.root / ".git" / "index.lock").exists():
            wrong.append(f"left over: {left}")
        repo.commit([Put("once-more.html", b"x")], "more\n", AT, wait_seconds=1.0)
    person.git("reset", "--quiet", "--soft", "HEAD^")
    person.git("rm", "--quiet", "--cached", "once-more.html")
    (person.root / "once-more.html").unlink()
    if sorted(person.status()) != sorted(PERSON) or person.git("show", ":staged.html") != "mine":
        wrong.append(f"status after one more: {person.status()[:5]}")
    if (person.root / "areas/inbox/m5.html").read_text() != "changed by hand":
        wrong.append("a person's change is gone")
    return wrong


def main(words: list[str]) -> int:
    """Try the points of a plan, or all."""
    if words and words[0].endswith(".json"):
        plan = json.loads(Path(words[0]).read_text(encoding="utf-8"))
        for at, how in plan["points"]:
            print(json.dumps(tried(plan, at, how)), flush=True)
        return 0
    every = int(words[1]) if words[:1] == ["--every"] else 1
    failures = tries = 0
    with tempfile.TemporaryDirectory() as work:
        for job in JOBS:
            plan = prepare(job, Path(work))
            total = tried(plan, 0, "kill")["ended"]["steps"]
            for at in range(1, total + 1, every):
                for how in WAYS:
                    found = tried(plan, at, how)
                    tries += 1
                    if found["wrong"]:
                        failures += 1
                        print(json.dumps(found), flush=True)
            print(f"{job}: {total} steps", flush=True)
    print(f"{tries} tries, {failures} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
