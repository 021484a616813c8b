"""Stop a job at its N-th write, and see whether what is left can be used.

    python write_points.py PLAN.json        the points that the plan names
    python write_points.py                  every point of every job, many minutes; exit 1 when a record is wrong
    python write_points.py --every 9        every ninth point

For each point a child process runs the job on a copy of a state and is stopped there (see ``stopping``). A second child
then opens what is left as a user would. One JSON object a point is printed: how the job ended and what the second child
saw.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

from answers import access_to, answers, damage, unsealed
from stopping import WAYS, in_child, stopped

JOBS = ("first", "grown", "seal", "rebuild")
SAMPLES = Path(__file__).resolve().parents[1] / "data" / "samples" / "home"


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


def try_point(plan: dict[str, Any], point: int, how: str) -> dict[str, Any]:
    """Stop the job at one point on a copy of the state, and look at what is left."""
    work = Path(plan["work"]) / f"{how}-{point}"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(plan["state"], work)
    user = Path(plan["user"])

    status, ended = stopped(lambda: run_job(plan["job"], work, user), point, how)
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
