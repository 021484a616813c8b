"""Stop a change of a memory at its N-th write, and see what the next one finds.

    python store_points.py JOB FOLDER POINT:WAY…     these points of a job (0 to 1: how far it was)
    python store_points.py init FOLDER               the making of a corpus
    python store_points.py                           every point of every job, killed; exit 1 when anything is wrong

For each point a child makes one change in a copy of a corpus, index and all, and is stopped (see ``stopping.py``).
Then the corpus is opened anew: its tree is the old one or the new one whole, the work tree is clean, the index is as
one made from nothing, and the same change can be made again where it was not. One JSON object a point is printed.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "memory" / "store"))

from stopping import stopped
from storecorpus import Clock, Person, claim

from fabula.kernel.errors import FabulaError
from fabula.memory.index.memory_index import MemoryIndex
from fabula.memory.index.opening import open_index
from fabula.memory.store.archiving import archive, unarchive
from fabula.memory.store.batch import apply
from fabula.memory.store.correcting import correct
from fabula.memory.store.guarding import Secrets
from fabula.memory.store.linking import link
from fabula.memory.store.opening import open_corpus
from fabula.memory.store.scaffold import init_corpus
from fabula.memory.store.store import Store
from fabula.memory.store.superseding import supersede
from fabula.memory.store.tasks import set_status
from fabula.memory.store.values import Batch, Correction, NewMemory, Pair
from fabula.memory.store.writing import write
from fabula.storage.git.repo import Repo

POOL, SAME, TASK, GONE = (
    "projects/alpha/pool.html", "areas/inbox/same.html", "areas/inbox/tasks/do.html",
    "archive/2026/areas/inbox/gone.html",
)  # fmt: skip
CEILING = "The pool ceiling is {}."

JOBS: dict[str, Callable[[Store], object]] = {
    "write": lambda store: write(store, claim("New", "It is new.", workspace="new")),
    "apply": lambda store: apply(
        store, [claim("P", CEILING.format(n), workspace="alpha") for n in (2, 3)] + [claim("Q")], Batch(last_wins=True)
    ),
    "correct": lambda store: correct(store, Correction(POOL, "why", claim=CEILING.format(9))),
    "correct-merged": lambda store: correct(store, Correction(POOL, claim="The same holds.")),
    "supersede": lambda store: supersede(store, [Pair(SAME, POOL)]),
    "archive": lambda store: archive(store, POOL, "old"),
    "unarchive": lambda store: unarchive(store, GONE),
    "link": lambda store: link(store, POOL, "supports", SAME),
    "done": lambda store: set_status(store, TASK, "done"),
}


class Tried:
    """A corpus that is opened for one change."""

    def __init__(self, root: Path) -> None:
        self.person = Person(root)
        self.corpus = open_corpus(root, self.person.environ)
        self.repo: Repo = self.corpus.repo()
        scratch = root.parent / "scratch"
        self.index: MemoryIndex = open_index(root, self.corpus.repo, Clock(), scratch=scratch)
        self.store = Store(self.repo, self.index, Clock(), Secrets())

    def close(self) -> None:
        self.index.close()
        self.corpus.close()


def prepare(folder: Path) -> Path:
    """Make the corpus that every point begins with."""
    root = folder / "first"
    init_corpus(root, Person(root).environ, Clock())
    tried = Tried(root)
    tried.index.refresh()
    write(tried.store, claim("Pool", CEILING.format(1), path=POOL))
    write(tried.store, claim("Same", "The same holds.", path=SAME))
    write(tried.store, NewMemory("Do", "task", claim="Do it.", path=TASK))
    gone = write(tried.store, claim("Gone", "It went."))
    archive(tried.store, gone.path, "old")
    tried.close()
    return root


def tree_of(root: Path) -> str:
    return Person(root).git("rev-parse", "HEAD^{tree}")


def change(root: Path, job: str) -> None:
    tried = Tried(root)
    try:
        JOBS[job](tried.store)
    finally:
        tried.close()


def try_point(first: Path, job: str, point: int, way: str, new_tree: str) -> dict[str, Any]:
    """Stop the job at a point in a copy, and tell what is found afterwards."""
    with tempfile.TemporaryDirectory(dir=first.parent) as folder:
        root = Path(folder) / "corpus"
        shutil.copytree(first, root, symlinks=True)
        old_tree = tree_of(root)
        status, said = stopped(lambda: change(root, job), point, way)
        wrong = []
        tried = Tried(root)
        tried.index.refresh()
        tree = tree_of(root)
        is_new = tree == new_tree
        if not is_new and tree != old_tree:
            wrong.append(f"the tree is neither old nor new: {tree}")
        wrong += [f"not clean: {row}" for row in tried.person.status()]
        wrong += _against_rebuild(tried)
        if not is_new:
            try:
                JOBS[job](tried.store)
            except FabulaError as error:
                wrong.append(f"it cannot be done again: {error.message}")
            if tree_of(root) != new_tree:
                wrong.append("done again it is another tree")
        tried.close()
        checked = subprocess.run(["git", "-C", str(root), "fsck", "--strict"], capture_output=True, check=False)
        if checked.returncode:
            wrong.append(checked.stderr.decode())
        return {"job": job, "point": point, "way": way, "status": status, "said": said, "new": is_new, "wrong": wrong}


def _against_rebuild(tried: Tried) -> list[str]:
    """Return how the rows of the index differ from those of an index made from nothing."""
    question = "select path, content_hash, fact_hash, archived, valid_until from files order by path"
    before = list(tried.index.connection.execute(question))
    tried.index.rebuild()
    after = list(tried.index.connection.execute(question))
    return [] if before == after else [f"the index is not as rebuilt: {set(before) ^ set(after)}"]


def new_tree_of(first: Path, job: str) -> tuple[str, int]:
    """Return the tree that a job leads to, and how many writes it takes."""
    with tempfile.TemporaryDirectory(dir=first.parent) as folder:
        root = Path(folder) / "corpus"
        shutil.copytree(first, root, symlinks=True)
        status, said = stopped(lambda: change(root, job), 0, "kill")
        assert status == 0, said
        assert said["code"] == "", said
        return tree_of(root), int(said["writes"])


def try_init(folder: Path, step: int = 6) -> Iterator[dict[str, Any]]:
    """Stop the making of a corpus at every so many of its writes, and make it again."""

    def init(root: Path) -> None:
        init_corpus(root, Person(root).environ, Clock())

    init(folder / "whole")
    status, said = stopped(lambda: init(folder / "counted"), 0, "kill")
    assert status == 0, said
    for point in range(1, said["writes"] + 1, step):
        root = folder / f"p{point}"
        stopped(lambda root=root: init(root), point, "kill")  # type: ignore[misc]
        init(root)
        wrong = [] if tree_of(root) == tree_of(folder / "whole") else ["the tree is another one"]
        yield {"point": point, "wrong": wrong + Person(root).status()}


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["init"]:
        for one in try_init(Path(arguments[1])):
            print(json.dumps(one), flush=True)
        return 0
    if arguments:
        job, folder, *points = arguments
        first = prepare(Path(folder))
        new_tree, total = new_tree_of(first, job)
        chosen = [point.split(":") for point in points]
        for point, way in chosen:
            at = max(1, round(float(point) * total))
            print(json.dumps(try_point(first, job, at, way, new_tree)), flush=True)
        return 0
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        first = prepare(Path(folder))
        for job in JOBS:
            new_tree, total = new_tree_of(first, job)
            found = [try_point(first, job, point, "kill", new_tree) for point in range(1, total + 1)]
            bad = [one for one in found if one["wrong"]]
            failures += len(bad)
            print(f"{job}: {total} points, {sum(one['new'] for one in found)} after the commit, {len(bad)} wrong")
            for one in bad[:3]:
                print("  ", one)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
