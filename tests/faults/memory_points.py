"""Stop ``fabula memory …`` at its N-th write, and see what the next command finds.

    python memory_points.py JOB FOLDER POINT:WAY…   these points of a job (0 to 1: how far it was)
    python memory_points.py                         every point of every job, every way; exit 1 when anything is wrong
    python memory_points.py --every 5               every fifth point

For each point a child runs the command line on a copy of a corpus and is killed, torn, or finds the disk full (see
``stopping.py``). Afterwards the files of HEAD are those before or those after, whole; the work tree is clean; ``fsck``
finds nothing; what the command said is true; the index is as one made anew; and the command can be given again.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "memory" / "index"))

from indexed import FixedClock, contents
from stopping import WAYS, stopped

from fabula.cli.main import main as fabula
from fabula.kernel.errors import FabulaError
from fabula.memory.index.opening import open_index
from fabula.memory.store.scaffold import init_corpus
from fabula.storage.git.repo import Repo

POOL = "areas/inbox/the-pool-ceiling-is-1.html"
CLAIM = ("--type", "semantic", "--claim")
JOBS: dict[str, tuple[str, ...]] = {
    "write": ("memory", "write", *CLAIM, "It is new.", "--session", "s-1"),
    "apply": ("memory", "apply", "{folder}/batch.jsonl"),
    "correct": ("memory", "correct", POOL, "--claim", "The pool ceiling is 9.", "--reason", "measured"),
    "rebuild": ("memory", "index", "rebuild"),
}


def said(root: Path, *words: str) -> tuple[int, dict[str, Any]]:
    """Run a command in this process; return its status and its envelope."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        status = fabula([*words, "--corpus", str(root), "--json"])
    return status, json.loads(out.getvalue())


def command(root: Path, job: str) -> None:
    """Give the command of a job. Raises what it said went wrong."""
    words = [word.format(folder=root.parent) for word in JOBS[job]]
    _, envelope = said(root, *words)
    if "code" in envelope:
        raise FabulaError(envelope["code"], envelope["error"])


def prepare(folder: Path) -> Path:
    """Make the home and the corpus that every point begins with."""
    os.environ |= {"HOME": str(folder), "FABULA_HOME": str(folder / "fabula"), "GIT_CONFIG_NOSYSTEM": "1"}
    os.chdir(folder)
    root = folder / "first" / "corpus"
    root.parent.mkdir()
    init_corpus(root, dict(os.environ), FixedClock())
    for claim in ("The pool ceiling is 1.", "The same holds."):
        assert said(root, "memory", "write", *CLAIM, claim)[0] == 0
    rows = [
        {"op": "write", "title": f"P{n}", "type": "semantic", "claim": f"The limit of {n} is {n}."} for n in range(5)
    ]
    (root.parent / "batch.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return root


def git(root: Path, *words: str) -> str:
    """Run git; return what it said, complaints too."""
    done = subprocess.run(("git", "-C", str(root), *words), capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def files(root: Path) -> list[str]:
    """Return the files of HEAD."""
    return git(root, "ls-tree", "-r", "--name-only", "HEAD").splitlines()


def after(first: Path, job: str) -> tuple[list[str], int]:
    """Return the files that a job leaves, and how many writes it takes."""
    with tempfile.TemporaryDirectory(dir=first.parent.parent) as folder:
        root = shutil.copytree(first.parent, Path(folder) / "copy", symlinks=True) / "corpus"
        status, ended = stopped(lambda: command(root, job), 0, "kill")
        assert (status, ended.get("code")) == (0, ""), ended
        return files(root), ended["writes"]


def tried(first: Path, job: str, point: int, how: str, new: list[str]) -> dict[str, Any]:
    """Stop a job at a point in a copy; ``wrong`` is what was found that should not be."""
    with tempfile.TemporaryDirectory(dir=first.parent.parent) as folder:
        root = shutil.copytree(first.parent, Path(folder) / "copy", symlinks=True) / "corpus"
        status, ended = stopped(lambda: command(root, job), point, how)
        wrong = list(_untrue(root, (status, ended), (point, how), new))
        if said(root, "memory", "search", "ceiling", "--all")[1]["data"]["number"] < 1:
            wrong.append("what was there is not found")
        found = files(root)
        if found not in (files(first), new):
            wrong.append(f"neither the files before nor those after: {found}")
        wrong += _not_as_anew(root)
        if found != new or job == "rebuild":
            try:
                command(root, job)
            except FabulaError as error:
                wrong.append(f"it cannot be done again: {error.message}")
            if files(root) != new:
                wrong.append("done again, it left other files")
        wrong += [
            text
            for text in (git(root, "status", "--porcelain"), git(root, "fsck", "--strict", "--no-dangling"))
            if text
        ]
    return {
        "job": job,
        "point": point,
        "how": how,
        "status": status,
        "ended": ended,
        "wrong": wrong,
        "new": found == new,
    }


def _untrue(root: Path, end: tuple[int, Any], stop: tuple[int, str], new: list[str]) -> list[str]:
    """Return what the command said of itself that is not so."""
    (status, ended), (point, how) = end, stop
    if status < 0:
        return []
    if "error" in ended:
        return [ended["error"]]
    if ended["code"] not in ({"", "ERR_DISK"} if how == "full" else {""}):
        return [f"it said {ended}"]
    if how != "full" and ended["writes"] >= point:  # fewer: counts vary by one or two, and the end came first
        return ["it was not stopped"]
    is_new = files(root) == new
    return [] if is_new or ended["code"] else ["it said that it was done"]


def _not_as_anew(root: Path) -> list[str]:
    """Return the tables of the index that hold something else than after a rebuild."""
    repo = Repo(root, dict(os.environ))
    with repo, open_index(root, lambda: repo, FixedClock()) as index:
        index.refresh()
        before = contents(index)
        index.rebuild()
        rows = contents(index)
    return [f"the index is not as rebuilt: {table}" for table in rows if rows[table] != before[table]]


def main(words: list[str]) -> int:
    """Try what the command line names, else everything."""
    every = int(words[1]) if words[:1] == ["--every"] else 1
    if words and words[0] in JOBS:
        job, folder, *points = words
        first = prepare(Path(folder).resolve())
        new, total = after(first, job)
        for share, how in (point.split(":") for point in points):
            print(json.dumps(tried(first, job, max(1, round(float(share) * total)), how, new)), flush=True)
        return 0
    bad = tries = 0
    with tempfile.TemporaryDirectory() as folder:
        first = prepare(Path(folder).resolve())
        for job in JOBS:
            new, total = after(first, job)
            for point in range(1, total + 1, every):
                for how in WAYS:
                    found = tried(first, job, point, how, new)
                    tries += 1
                    bad += bool(found["wrong"])
                    if found["wrong"]:
                        print(json.dumps(found), flush=True)
            print(f"{job}: {total} writes", flush=True)
        os.chdir("/")
    print(f"{tries} tries, {bad} wrong")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
