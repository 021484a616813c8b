"""Stop a job on the state of a memory at its N-th write, and see what the next one finds.

    python state_points.py JOB FOLDER POINT:WAY…     these points of a job; one JSON object a point
    python state_points.py                           every point of every job, every way; exit 1 when anything is wrong

For each point a child does one thing in a copy of a corpus and is stopped (see ``stopping.py``). Then its state is
asked anew: every entry that was logged before counts, what the job logged counts as a whole or not at all, the tables
are as those folded from nothing, git's tree is whole, and the job can be done again.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "memory" / "state"))

from planes import ARCHIVED, HOUR, A, B, HandClock, corpus, plane
from stopping import WAYS, stopped

from fabula.memory.state.compacting import compact
from fabula.memory.state.exporting import export
from fabula.memory.state.plane import StatePlane
from fabula.storage.appending import set_aside
from fabula.storage.git.repo import Repo

AT = "1772000000 +0000"
LATER = HandClock(HandClock().now + 100 * HOUR)


def _export(root: Path, state: StatePlane) -> None:
    with Repo(root, _environ(root)) as repo:
        export(state, repo, AT)


JOBS: dict[str, Callable[[Path, StatePlane], object]] = {
    "read": lambda _root, state: state.read([A], "new"),
    "fold": lambda _root, state: state.states([A, B]),
    "refold": lambda _root, state: state.refold(),
    "compact": lambda root, _state: compact(root),
    "export": _export,
}


def _environ(root: Path) -> dict[str, str]:
    from gitcorpus import Person

    return Person(root).environ


def prepare(folder: Path) -> Path:
    """Make a corpus whose state has something of every kind: tracked, set aside, to be appended to."""
    person = corpus(folder)
    clock = HandClock()
    with plane(person.root, clock) as state:
        for number in range(3):
            state.read([A, B], f"s-{number}")
            clock.pass_by(HOUR)
        _export(person.root, state)
        for number in range(3, 9):
            state.read([A], f"s-{number}")
            state.read([A], f"s-{number}")
            state.handed_out([A], reader="recall", query=f"q {number}")
            clock.pass_by(HOUR)
            if number % 2:
                set_aside(person.root / ".fabula/log")
        state.moved([(B, ARCHIVED)])
    return person.root


def tried(job: str, origin: Path, point: int, how: str) -> dict[str, Any]:
    """Stop a job at a point in a copy; return what was found then, ``wrong`` among it."""
    folder = Path(tempfile.mkdtemp(dir=origin.parent.parent))
    root = folder / "corpus"
    shutil.copytree(origin.parent, folder, dirs_exist_ok=True, symlinks=True)

    def work() -> None:
        with plane(root, LATER) as state:
            JOBS[job](root, state)
            state.notices.clear()

    status, ended = stopped(work, point, how)
    wrong = list(_wrong(root, job))
    shutil.rmtree(folder)
    return {"job": job, "point": point, "how": how, "status": status, "ended": ended, "wrong": wrong}


def _wrong(root: Path, job: str) -> list[str]:
    found = []
    with plane(root, LATER) as state:
        for turn in ("after the stop", "after the job was done again"):
            seen = _seen(state)
            sessions = {name for name in seen["sessions"] if name != "new"}
            if sessions != {f"s-{number}" for number in range(9)}:
                found.append(f"{turn}: sessions {sorted(sessions)}")
            if seen["accesses"] not in ([9, 3], [10, 3]) or seen["packs"] != 6:
                found.append(f"{turn}: {seen}")
            state.refold()
            if _seen(state) != seen:
                found.append(f"{turn}: folded anew {_seen(state)} is not {seen}")
            JOBS[job](root, state)
    checked = subprocess.run(
        ("git", "-C", str(root), "fsck", "--strict"), capture_output=True, text=True, check=False, env=_environ(root)
    )
    if checked.returncode:
        found.append(checked.stderr)
    from gitcorpus import Person

    if Person(root).status():
        found.append(f"git shows {Person(root).status()}")
    return found


def _seen(state: StatePlane) -> dict[str, Any]:
    states = state.states([A, ARCHIVED])
    return {
        "accesses": [states[path].accesses for path in (A, ARCHIVED)],
        "sessions": sorted({link.session for link in state.sessions_of(A)}),
        "packs": len(state.packs_with(A)),
    }


def main(words: list[str]) -> int:
    """Try what the command line names, else everything."""
    if words:
        job, folder, *points = words
        for one in points:
            point, _, how = one.partition(":")
            print(json.dumps(tried(job, Path(folder), int(point), how)))
        return 0
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        origin = prepare(Path(folder) / "origin")
        for job in JOBS:
            writes = tried(job, origin, 0, "kill")["ended"]["writes"]
            for how in WAYS:
                for point in range(1, writes + 1):
                    found = tried(job, origin, point, how)
                    bad += bool(found["wrong"])
                    if found["wrong"]:
                        print(json.dumps(found))
            print(f"{job}: {writes} writes", flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
