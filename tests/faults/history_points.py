"""Stop a merge or a forgetting at its N-th step, and see what a person and the next Fabula find.

    python history_points.py                  every point of both jobs; exit 1 when anything is wrong
    python history_points.py --every 5        every fifth point

For each point a child works on a copy of a repository in which a person has staged, changed and untracked files, and
kills itself with SIGKILL when it is about to take its N-th step, or after half of a write (see ``git_points``). Then
Fabula opens the repository: it must hold the old history or the new one, whole, on all branches alike.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "memory"))

from clones import Corpus, corpus, memory
from git_points import Stopper

from fabula.memory.forgetting.forget import forget
from fabula.memory.forgetting.values import Target
from fabula.memory.merging.merge import merge
from fabula.storage.git.repo import Repo

AT = "1780000000 +0000"
JOBS = ("merge", "forget")
WAYS = ("kill", "half")
A, B, C = "areas/inbox/a.html", "areas/inbox/b.html", "areas/inbox/c.html"
SECRET = "The key of the safe is tabasco"
PERSON = ["A  staged.txt", f" M {C}", "?? loose.txt"]


def prepare(work: Path) -> Path:
    """Make the repository: two branches that went apart, a tag, a stash, and a person's work."""
    one = corpus(work / "before", {A: memory(SECRET), B: memory("b fact"), C: memory("c fact")})
    one.git("branch", "side")
    one.move(A, f"archive/2026/{A}", memory(SECRET, status="archived"))
    one.commit(f"memhtml(archive): {SECRET}")
    one.git("tag", "-a", "v1", "-m", "one")
    one.git("switch", "--quiet", "side")
    one.write(A, memory(SECRET, tags=["side"]))
    one.write("projects/x/d.html", memory("d fact"))
    one.commit("side")
    one.git("switch", "--quiet", "main")
    one.write(B, memory("b fact", tags=["stashed"]))
    one.git("stash")
    one.write("staged.txt", "mine")
    one.git("add", "staged.txt")
    one.write(C, memory("c fact", tags=["mine"]))
    one.write("loose.txt", "mine")
    return work / "before"


def tried(job: str, before: Path, at: int, how: str) -> dict[str, Any]:
    """Try one point on a copy."""
    there = before.parent / "try"
    shutil.rmtree(there, ignore_errors=True)
    shutil.copytree(before, there, symlinks=True)
    one = Corpus(there / "corpus")
    old = refs(one)
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        _run(job, one, Stopper(at, how), write)
    os.close(write)
    with open(read, "rb") as stream:
        ended = json.loads(stream.read() or b"{}")
    os.waitpid(child, 0)
    wrong = [ended["wrong"]] if "wrong" in ended else []
    one.repo().close()
    is_new = refs(one) != old
    wrong += seen(job, one, is_new=is_new)
    return {"job": job, "point": at, "how": how, "new": is_new, "wrong": wrong, "steps": ended.get("steps")}


def refs(one: Corpus) -> str:
    """Return HEAD and all refs."""
    return one.git("rev-parse", "HEAD") + one.git("show-ref")


def seen(job: str, one: Corpus, *, is_new: bool) -> list[str]:
    """Look at the repository after Fabula opened it; return what is not as it should be."""
    wrong = []
    if sorted(one.status()) != sorted(PERSON):
        wrong.append(f"status {one.status()}")
    if one.git("fsck", "--full", "--strict", "--no-dangling", check=False):
        wrong.append("fsck")
    left = [
        name for name in ("journal", "staging", "replacing", "index.new") if (one.root / ".git/fabula" / name).exists()
    ]
    if left or (one.root / ".git/index.lock").exists():
        wrong.append(f"left {left}")
    log = one.git("log", "--all", "-p", "--format=%B")
    words = ("git", "-C", str(one.root), "cat-file", "--batch-all-objects", "--batch")
    objects = subprocess.run(words, capture_output=True, check=True, env=one.environ).stdout
    if job == "forget" and is_new and b"tabasco" in objects:
        wrong.append("forgotten, and still there")
    if not is_new and log.count("tabasco") < 4:
        wrong.append("not forgotten, and not whole")
    if job == "merge" and is_new and len(one.git("log", "-1", "--format=%P").split()) != 2:
        wrong.append("no merge")
    stashed = one.git("stash", "show", "-p", check=False)
    if "stashed" not in stashed:
        wrong.append("the stash is gone")
    return wrong


def _run(job: str, one: Corpus, stopper: Stopper, write: int) -> None:
    told: dict[str, Any] = {}
    out = os.write
    try:
        repo = Repo(one.root, one.environ)
        stopper.install()
        if job == "merge":
            merge(repo, "side", AT)
        else:
            forget(repo, Target((A,)), AT)
    except BaseException as error:
        told = {"wrong": repr(error)}
    finally:
        told["steps"] = stopper.count
        out(write, json.dumps(told).encode())
        os._exit(0)


def main(every: int) -> int:
    """Try all points; print what is wrong."""
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        before = prepare(Path(folder))
        for job in JOBS:
            whole = tried(job, before, 0, "kill")
            print(json.dumps(whole))
            bad += bool(whole["wrong"])
            for point in range(1, whole["steps"] + 1, every):
                for how in WAYS:
                    found = tried(job, before, point, how)
                    bad += bool(found["wrong"])
                    if found["wrong"]:
                        print(json.dumps(found))
            print(job, whole["steps"], "points,", bad, "wrong so far")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[2]) if len(sys.argv) > 2 else 1))
