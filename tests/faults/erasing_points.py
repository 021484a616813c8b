"""Kill a forgetting, or a collecting of garbage, at its N-th write, and see what is left.

    python erasing_points.py PLAN.json               the points that the plan names
    python erasing_points.py --count 200 --seed 1    so many random points; exit 1 when anything is wrong

A child process works on a copy of a state and kills itself with SIGKILL when it is about to write for the N-th time, or
after half of that write; in one way of three it finds the disk full from there on. Then another opens what is left as a
user would. What is forgotten must be either there whole, or nowhere; all else must be there in either case.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import tempfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import apsw
from answers import damage
from stopping import WAYS, in_child, stopped
from write_points import SAMPLES

from fabula.app.access import RecordAccess
from fabula.app.record import forget as forget_verb
from fabula.app.record.forget import ForgetRequest, forget
from fabula.app.vault import gc as gc_verb
from fabula.app.vault.gc import GcRequest, gc
from fabula.app.wiring import App
from fabula.kernel.clock import SystemClock
from fabula.record.vault.vault import Vault
from fabula.testing.prober import found_in
from fabula.testing.transcripts import ClaudeSession, json_line

JOBS = ("forget", "gc")
WORDS = ("zyxquorvane", "wembrulost", "trilvaxom")
TEXTS = ("Zyxquorvane sits under the seventh stone", "Wembrulost answers that the kiln is gone",
         "ModuleNotFoundError: No module named 'trilvaxom'")  # fmt: skip
PACK_LIMIT = 60_000  # so that there are several packs


def app_of(home: Path, user: Path) -> App:
    """Return an application of its own, as another process would have it."""
    environment = {"FABULA_HOME": str(home), "HOME": str(user)}
    return App(environment=environment, cwd=user, user_home=user, clock=SystemClock())


def doomed() -> ClaudeSession:
    """Return the session that is forgotten; some of its lines are long enough for frames of their own."""
    session = ClaudeSession("doomed", cwd="/home/mira/code/harbor")
    noise = random.Random(7)
    for _ in range(12):
        session.prompt(TEXTS[0])
        session.reply(TEXTS[1] + " " + noise.randbytes(9_000).hex())
        session.tool("Bash", {"command": "pytest"}, TEXTS[2], failed=True)
    return session


def prepare(job: str, folder: Path) -> dict[str, Any]:
    """Lay out a state and a user's home for a job, and return the plan without points."""
    state, user = folder / "state", folder / "user"
    state.mkdir(parents=True)
    shutil.copytree(SAMPLES, user)
    session = doomed()
    path = session.save(user / ".claude")
    app = app_of(state, user)
    app.record.scan()
    app.record.close()
    if job == "gc":
        path.unlink()
        _lose_manifest(state, str(path))
    kept = digests(state, {str(path)})
    return {"job": job, "state": str(state), "user": str(user), "work": str(folder), "path": str(path), "kept": kept,
            "session": session.id}  # fmt: skip


def _lose_manifest(state: Path, path: str) -> None:
    """Make garbage: records that no manifest names any more, and a pack that the journal does not name."""
    database = apsw.Connection(str(state / "vault" / "journal.db"))
    with database:
        where = "in (select g.id from generations g join sources s on s.id = g.source_id where s.path=?)"
        database.execute(f"delete from segments where generation_id {where}", (path,))
        database.execute(f"delete from generations where id {where}", (path,))
        database.execute("delete from sources where path=?", (path,))
        database.execute("delete from meta where key='copy'")
    database.close()
    for name in ("map.db", "map.db-wal", "map.db-shm"):
        (state / name).unlink(missing_ok=True)
    packs = state / "vault" / "packs"
    first = min(packs.glob("records-*.pack"))
    shutil.copy(first, packs / "records-000900.pack")


def digests(home: Path, leaving_out: set[str]) -> dict[str, str]:
    """Return the digest of every sealed state of every file, by path and number."""
    found = {}
    with Vault.open(home / "vault", SystemClock(), read_only=True) as vault:
        for entry in vault.sources():
            for generation in entry.generations if entry.path not in leaving_out else ():
                data = b"".join(vault.stream(generation.id))
                found[f"{entry.path} {generation.number}"] = sha256(data).hexdigest()
    return found


def run_job(plan: dict[str, Any], home: Path, user: Path) -> None:
    """Do what is to be killed, as if a person had agreed."""
    app = app_of(home, user)
    for verb in (forget_verb, gc_verb):
        vars(verb)["require_consent"] = lambda *_: None
    vars(app.record)["close"] = lambda: close_reader(app.record)
    if plan["job"] == "forget":
        forget(app, ForgetRequest((plan["session"],), apply=True))
    else:
        gc(app, GcRequest(apply=True))
    app.record.close()


def close_reader(access: RecordAccess) -> None:
    """Close the map: a reader may not lock it for a checkpoint, which only files written in Python complain of."""
    with suppress(apsw.IOError):
        RecordAccess.close(access)
    access._reader = None


def look(plan: dict[str, Any], home: Path, user: Path) -> dict[str, Any]:
    """Use what is left, and say how it is."""
    committed = is_committed(plan, home)
    app = app_of(home, user)
    app.record.scan()
    app.record.close()
    there = found_in(home, WORDS)
    kept = digests(home, {plan["path"]})
    whole = plan["job"] == "gc" or committed or is_whole(home, plan["path"])
    return {"committed": committed, "left": len(there), "kept": kept == plan["kept"], "whole": whole,
            "damage": damage(home), "unfinished": is_unfinished(home)}  # fmt: skip


def is_committed(plan: dict[str, Any], home: Path) -> bool:
    """Say, without finishing anything, whether the commit point was passed."""
    with Vault.open(home / "vault", SystemClock(), read_only=True) as vault:
        if plan["job"] == "forget":
            return bool(vault.journal.rows("select 1 from tombstones limit 1"))
        return not vault.journal.holds(sha256(json_line(doomed().records[0])[:-1]).digest())


def is_whole(home: Path, path: str) -> bool:
    """Say whether the doomed session is all there."""
    with Vault.open(home / "vault", SystemClock(), read_only=True) as vault:
        entry = next(entry for entry in vault.sources() if entry.path == path)
        return b"".join(vault.stream(entry.generations[-1].id)) == Path(path).read_bytes()


def is_unfinished(home: Path) -> bool:
    """Say whether an erasure is still to be finished."""
    with Vault.open(home / "vault", SystemClock(), read_only=True) as vault:
        return vault.journal.meta("erasing") is not None


def verdict(plan: dict[str, Any], seen: dict[str, Any]) -> str:
    """Say what is wrong with what is left; empty when nothing is."""
    problems = [name for name in ("kept", "whole") if not seen.get(name)]
    problems += [str(seen["damage"])] if seen.get("damage") and plan["job"] == "forget" else []
    if seen.get("committed"):
        problems += ["something of it is left"] * bool(seen["left"]) + ["not finished"] * bool(seen["unfinished"])
    elif not seen.get("left"):
        problems.append("gone before the commit")
    return ", ".join(problems) if "error" not in seen else str(seen["error"])


def try_point(plan: dict[str, Any], point: int, how: str) -> dict[str, Any]:
    """Stop the job at one point on a copy of the state, and look at what is left."""
    work, user = Path(plan["work"]) / f"{how}-{point}", Path(plan["user"])
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(plan["state"], work)

    status, ended = stopped(lambda: run_job(plan, work, user), point, how)
    seen = in_child(lambda: look(plan, work, user))[1]
    shutil.rmtree(work)
    return {"point": point, "how": how, "status": status, "ended": ended, "seen": seen, "wrong": verdict(plan, seen)}


def everything(folder: Path, count: int, seed: int) -> int:
    """Try random points of both jobs. Returns how many left something wrong."""
    wrong = 0
    chance = random.Random(seed)
    for job in JOBS:
        plan = prepare(job, folder / job)
        total = try_point(plan, 0, "kill")["ended"]["writes"]
        ends = [total // (12 if at % 2 else 1) for at in range(count // len(JOBS))]  # the commit comes early
        found = [try_point(plan, chance.randint(1, end), chance.choice(WAYS)) for end in ends]
        bad = [one for one in found if one["wrong"]]
        after = sum(one["seen"].get("committed", False) for one in found)
        wrong += len(bad)
        print(f"{job}: {len(found)} of {total} write points, {after} after the commit, {len(bad)} wrong", flush=True)
        for one in bad:
            print(f"  {one['how']} at {one['point']}: {one['wrong']}", flush=True)
    return wrong


def main() -> int:
    """Work a plan off, or random points."""
    if len(sys.argv) != 2:
        given = dict(zip(sys.argv[1::2], map(int, sys.argv[2::2]), strict=True))
        with tempfile.TemporaryDirectory() as folder:
            return int(everything(Path(folder), given.get("--count", 200), given.get("--seed", 1)) > 0)
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for point, how in plan["points"]:
        print(json.dumps(try_point(plan, point, how)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
