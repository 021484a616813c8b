"""Kill an encrypting or a decrypting at its N-th write, and see what is left.

    python converting_points.py PLAN.json             the points that the plan names
    python converting_points.py --every 7             every seventh point of each job; exit 1 when anything is wrong

A child process works on a copy of a state and kills itself with SIGKILL when it is about to write for the N-th time, or
after half of that write; in one way of three it finds the disk full from there on. Then another opens what is left as a
user would. Every sealed state of every file must be there; all packs and databases must be of one kind, sealed or not;
nothing of the conversion is left over.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from erasing_points import TEXTS, app_of, digests, doomed
from stopping import WAYS, in_child, stopped
from write_points import SAMPLES

from fabula.app.vault import decrypt as decrypt_verb
from fabula.app.vault import encrypt as encrypt_verb
from fabula.kernel.clock import SystemClock
from fabula.record.vault import filling
from fabula.record.vault.vault import Vault
from fabula.storage import keyring
from fabula.storage.packs_format import HEADER_BYTES, is_sealed
from fabula.testing.prober import everything as all_bytes

JOBS = ("encrypt", "decrypt")


def prepare(job: str, folder: Path) -> dict[str, Any]:
    """Lay out a state and a user's home for a job, and return the plan without points."""
    state, user = folder / "state", folder / "user"
    state.mkdir(parents=True)
    shutil.copytree(SAMPLES, user)
    doomed().save(user / ".claude")
    filling.PACK_LIMIT = 60_000
    app = app_of(state, user)
    app.record.scan()
    app.record.close()
    plan = {"job": job, "state": str(state), "user": str(user), "work": str(folder), "kept": digests(state, set())}
    if job == "decrypt":
        run_job({**plan, "job": "encrypt"}, state, user)
    return plan


def run_job(plan: dict[str, Any], home: Path, user: Path) -> None:
    """Do what is to be killed, as if a person had agreed."""
    app = app_of(home, user)
    for verb in (encrypt_verb, decrypt_verb):
        vars(verb)["require_consent"] = lambda *_: None
    if plan["job"] == "encrypt":
        key = Path(plan["work"]) / "key"
        encrypt_verb.encrypt(app, encrypt_verb.EncryptRequest(apply=True, key_file=key))
    else:
        decrypt_verb.decrypt(app, decrypt_verb.DecryptRequest(apply=True))
    app.record.close()


def look(plan: dict[str, Any], home: Path, user: Path) -> dict[str, Any]:
    """Use what is left, and say how it is."""
    app = app_of(home, user)
    app.record.scan()
    app.record.close()
    with Vault.open(home / "vault", SystemClock(), read_only=True) as vault:
        damage = [str(each) for each in vault.verify()]
    files = {path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file()}
    said = keyring.read_key_file(home / "vault")
    packs = {is_sealed(path.read_bytes()[:HEADER_BYTES]) for path in (home / "vault" / "packs").iterdir()}
    kinds = packs | {keyring.is_sealed(home / name) for name in ("vault/journal.db", "map.db")}
    readable = [place for place, data in all_bytes(home, raw=True) if any(text.encode() in data for text in TEXTS)]
    return {
        "damage": damage, "kept": digests(home, set()) == plan["kept"], "kinds": sorted(kinds | {said is not None}),
        "converting": bool(said and said.get("converting")), "readable": readable,
        "left_over": sorted(name for name in files if re.search(r"vault/converting|converted|key\.json\..*tmp", name)),
    }  # fmt: skip


def verdict(seen: dict[str, Any]) -> str:
    """Say what is wrong with what is left; empty when nothing is."""
    if "error" in seen:
        return str(seen["error"])
    problems = [str(seen[name]) for name in ("damage", "left_over") if seen[name]]
    problems += ["bytes are lost"] * (not seen["kept"]) + ["still converting"] * seen["converting"]
    problems += ["sealed and readable files"] * (len(seen["kinds"]) != 1)
    problems += [f"readable: {seen['readable']}"] * (seen["kinds"] == [True] and bool(seen["readable"]))
    return ", ".join(problems)


def try_point(plan: dict[str, Any], point: int, how: str) -> dict[str, Any]:
    """Stop the job at one point on a copy of the state, and look at what is left."""
    work, user = Path(plan["work"]) / f"{how}-{point}", Path(plan["user"])
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(plan["state"], work)

    def job() -> None:
        keyring.forget_keys()
        run_job(plan, work, user)

    status, ended = stopped(job, point, how)
    seen = in_child(lambda: look(plan, work, user))[1]
    shutil.rmtree(work)
    return {"point": point, "how": how, "status": status, "ended": ended, "seen": seen, "wrong": verdict(seen)}


def everything(folder: Path, step: int) -> int:
    """Try every ``step``-th point of both jobs in turns of the ways. Returns how many left something wrong."""
    wrong = 0
    for job in JOBS:
        plan = prepare(job, folder / job)
        total = try_point(plan, 0, "kill")["ended"]["writes"]
        found = [try_point(plan, at, WAYS[number % 3]) for number, at in enumerate(range(1, total + 1, step))]
        bad = [one for one in found if one["wrong"]]
        after = sum((job == "encrypt") == (one["seen"].get("kinds") == [True]) for one in found)
        wrong += len(bad)
        print(f"{job}: {len(found)} of {total} write points, {after} after the commit, {len(bad)} wrong", flush=True)
        for one in bad:
            print(f"  {one['how']} at {one['point']} ({one['ended']}): {one['wrong']}", flush=True)
    return wrong


def main() -> int:
    """Work a plan off, or many points."""
    if len(sys.argv) != 2:
        with tempfile.TemporaryDirectory() as folder:
            return int(everything(Path(folder), int(sys.argv[2]) if sys.argv[1:2] == ["--every"] else 7) > 0)
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for point, how in plan["points"]:
        print(json.dumps(try_point(plan, point, how)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
