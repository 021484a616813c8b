"""Kill a pruning, an excision, an undoing or a composing at its N-th write, and see what is left.

    python rewriting_points.py PLAN.json               the points that the plan names
    python rewriting_points.py --count 200 --seed 1    so many random points; exit 1 when anything is wrong

A child process works on a copy of a state and kills itself with SIGKILL when it is about to write for the N-th time, or
after half of that write; in one way of three it finds the disk full from there on. Then another looks at what is left
and repeats the command, as a user would. The transcript must be the old one or the new one, everything that was sealed
must still be, no number of a generation may be used twice, and the repeated command must end where the first would
have.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

from answers import damage
from erasing_points import app_of, close_reader, digests
from stopping import WAYS, in_child, stopped
from write_points import SAMPLES

from fabula.app.record.compose import ComposeRequest, compose
from fabula.app.record.excise import ExciseRequest, excise
from fabula.app.record.prune import PruneRequest, prune
from fabula.app.record.undo import UndoRequest, undo
from fabula.app.wiring import App
from fabula.kernel.clock import SystemClock
from fabula.kernel.errors import FabulaError
from fabula.record.vault.vault import Vault
from fabula.testing.transcripts import ClaudeSession

JOBS = ("prune", "excise", "undo", "compose")
LONG_AGO = 3600  # seconds: a session that was written then is not in use


def worked() -> ClaudeSession:
    """Return the session that is rewritten: three threads with long inputs and results."""
    session = ClaudeSession("worked", cwd="/home/mira/code/harbor")
    noise = random.Random(5)
    for name in ("pivot", "chain", "sled"):
        session.prompt(f"Why does the {name} fail?")
        calls = session.calls(*(("Bash", {"command": f"pytest {name} {part}"}) for part in range(2)))
        for call in reversed(calls):
            session.result(call, f"{name} " + noise.randbytes(6_000).hex())
        session.reply(f"The {name} was off by one.", thought="By one?")
    return session


def prepare(job: str, folder: Path) -> dict[str, Any]:
    """Lay out a state and a user's home for a job, and return the plan without points."""
    state, user = folder / "state", folder / "user"
    state.mkdir(parents=True)
    shutil.copytree(SAMPLES, user)
    session = worked()
    path = session.save(user / ".claude")
    rest(path)
    threads = list(dict.fromkeys(record["promptId"] for record in session.records if "promptId" in record))
    plan: dict[str, Any] = {"job": job, "state": str(state), "user": str(user), "work": str(folder), "path": str(path),
            "session": session.id, "threads": threads}  # fmt: skip
    app = app_of(state, user)
    app.record.scan()
    if job == "undo":
        excise(app, ExciseRequest(session.id, (threads[1],), apply=True))
        rest(path)
    app.record.close()
    plan["before"] = path.read_text(encoding="utf-8")
    shutil.copytree(user, folder / "user-before", copy_function=shutil.copy2)
    plan["kept"] = digests(state, set())
    plan["files"] = sorted(str(file) for file in path.parent.iterdir())
    return plan


def rest(path: Path) -> None:
    """Let a transcript look as if its session had ended a while ago."""
    then = path.stat().st_mtime - LONG_AGO
    os.utime(path, (then, then))


def lay_out(plan: dict[str, Any], home: Path) -> None:
    """Put record and user's home back to where they were before the job."""
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(plan["state"], home)
    shutil.rmtree(plan["user"])
    shutil.copytree(Path(plan["work"]) / "user-before", plan["user"], copy_function=shutil.copy2)


def run_job(plan: dict[str, Any], app: App) -> str:
    """Do what is to be killed. Returns the path of a composed session."""
    job, session, threads = plan["job"], plan["session"], plan["threads"]
    if job == "prune":
        prune(app, PruneRequest(session, apply=True))
    elif job == "excise":
        excise(app, ExciseRequest(session, (threads[1],), apply=True))
    elif job == "undo":
        undo(app, UndoRequest(session, apply=True))
    else:
        return compose(app, ComposeRequest((threads[2], threads[0]), title="Anew", apply=True)).path
    return ""


def look(plan: dict[str, Any], home: Path) -> dict[str, Any]:
    """See what is left, then use it, then repeat the command."""
    path = Path(plan["path"])
    left = path.read_text(encoding="utf-8")
    new = [file for file in transcripts(path.parent) if file not in plan["files"]]
    app = app_of(home, Path(plan["user"]))
    app.record.scan()
    app.record.close()
    kept = digests(home, set())
    code = again(plan, home)
    return {
        "left": fingerprint(left),
        "composed": [fingerprint(plain(Path(file))) for file in new],
        "kept": plan["kept"].items() <= kept.items(),
        "again": code,
        "end": fingerprint(path.read_text(encoding="utf-8")),
        "litter": litter(path.parent),
        "numbers": numbers(home, plan["path"]),
        "damage": damage(home),
    }


def again(plan: dict[str, Any], home: Path) -> str:
    """Repeat the command; return the code of its refusal, "" when it did its work."""
    if Path(plan["path"]).exists():
        rest(Path(plan["path"]))
    app = app_of(home, Path(plan["user"]))
    try:
        made = run_job(plan, app)
    except FabulaError as error:
        return error.code
    finally:
        app.record.close()
    if made:
        Path(made).unlink()
    return ""


def transcripts(folder: Path) -> list[str]:
    """Return the sessions of a folder."""
    return sorted(str(file) for file in folder.glob("*.jsonl"))


def litter(folder: Path) -> list[str]:
    """Return what is no transcript."""
    return sorted(entry.name for entry in folder.iterdir() if entry.is_file() and entry.suffix != ".jsonl")


def numbers(home: Path, path: str) -> list[int]:
    """Return the numbers of a file's sealed states, in the order in which they began."""
    with Vault.open(home / "vault", SystemClock(), read_only=True) as vault:
        (entry,) = [entry for entry in vault.sources() if entry.path == path]
        return [generation.number for generation in entry.generations]


def plain(composed: Path) -> str:
    """Return what a composed session says, without its own ids; its lines must all be whole."""
    said = []
    for line in composed.read_bytes().splitlines(keepends=True):
        assert line.endswith(b"\n")
        value = json.loads(line)
        said.append([value["type"], value.get("fabulaComposedFrom"), value.get("fabulaSeam")])
    return json.dumps(said)


def fingerprint(text: str) -> str:
    """Return a short name of a text."""
    return sha256(text.encode()).hexdigest()[:12]


def verdict(plan: dict[str, Any], right: dict[str, Any] | None, seen: dict[str, Any]) -> str:
    """Say what is wrong with what is left; empty when nothing is. ``right`` is what an undisturbed job leaves."""
    if "error" in seen:
        return str(seen["error"])
    problems = [] if seen["kept"] else ["something sealed is lost"]
    problems += [str(seen["damage"])] if seen["damage"] else []
    problems += [f"litter: {seen['litter']}"] if seen["litter"] else []
    problems += [f"numbers: {seen['numbers']}"] if len(set(seen["numbers"])) < len(seen["numbers"]) else []
    if right is None:
        return ", ".join(problems)
    old, new = fingerprint(plan["before"]), right["left"]
    problems += [] if seen["left"] in {old, new} else ["neither the old file nor the new one"]
    problems += [] if set(seen["composed"]) <= set(right["composed"]) else ["a composed session is not whole"]
    problems += [] if seen["end"] == new else ["repeated, it ends elsewhere"]
    good = seen["again"] == "" or (seen["left"] == new and seen["again"] == right["again"])
    return ", ".join(problems if good else [*problems, f"repeated: {seen['again']}"])


def try_point(plan: dict[str, Any], point: int, how: str, right: dict[str, Any] | None = None) -> dict[str, Any]:
    """Stop the job at one point on a copy of the state, and look at what is left."""
    home = Path(plan["work"]) / "record"
    lay_out(plan, home)

    def job() -> None:
        app = app_of(home, Path(plan["user"]))
        vars(app.record)["close"] = lambda: close_reader(app.record)
        run_job(plan, app)
        app.record.close()

    status, ended = stopped(job, point, how)
    seen = in_child(lambda: look(plan, home))[1]
    return {"point": point, "how": how, "status": status, "ended": ended, "seen": seen,
            "wrong": verdict(plan, right, seen)}  # fmt: skip


def everything(folder: Path, count: int, seed: int) -> int:
    """Try random points of every job. Returns how many left something wrong."""
    wrong = 0
    chance = random.Random(seed)
    for job in JOBS:
        plan = prepare(job, folder / job)
        right = try_point(plan, 0, "kill")
        total = right["ended"]["writes"]
        found = [
            try_point(plan, chance.randint(1, total), chance.choice(WAYS), right["seen"])
            for _ in range(count // len(JOBS))
        ]
        bad = [one for one in [right, *found] if one["wrong"]]
        after = sum(one["seen"].get("left") == right["seen"]["left"] for one in found)
        wrong += len(bad)
        print(f"{job}: {len(found)} of {total} write points, {after} with the new file, {len(bad)} wrong", flush=True)
        for one in bad:
            print(f"  {one['how']} at {one['point']}: {one['wrong']} {one['ended']} {one['seen']}", flush=True)
    return wrong


def main() -> int:
    """Work a plan off, or random points."""
    if len(sys.argv) != 2:
        given = dict(zip(sys.argv[1::2], map(int, sys.argv[2::2]), strict=True))
        with tempfile.TemporaryDirectory() as folder:
            return int(everything(Path(folder), given.get("--count", 200), given.get("--seed", 1)) > 0)
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    right = None
    for point, how in plan["points"]:
        found = try_point(plan, point, how, right)
        right = right or found["seen"]
        print(json.dumps(found), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
