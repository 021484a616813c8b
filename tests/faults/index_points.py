"""Stop the index of a corpus at its N-th write, and see what the next one to open it answers.

    python index_points.py                every point of every job; exit 1 when anything is wrong
    python index_points.py --every 7      every seventh point

For each point a child works on a copy of a corpus: it makes the index for the first time, takes changes in, makes it
anew, or replaces a damaged one, and is killed, torn or finds the disk full (see ``stopping``). Then the index is opened
as always: it must say what one says that was never stopped.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "memory" / "index"))

from indexed import FixedClock, Shelf, contents, link, memory
from stopping import WAYS, stopped

from fabula.memory.index.opening import open_index
from fabula.storage.git.repo import Repo

JOBS = ("first", "update", "rebuild", "replace")
FILES = 24


def prepare(work: Path) -> Path:
    """Make a corpus with an index, and after that changes of every kind that the index has not seen."""
    shelf = Shelf(work / "before")
    for number in range(FILES):
        head = link("relates_to", f"areas/{number + 1}.html")
        shelf.put(f"areas/{number}.html", memory(f"Number {number} of parseConfig.", head=head))
    shelf.put("areas/broken.html", b"<p>no memory</p>")
    shelf.commit()
    with shelf.open() as index:
        index.refresh()
    shelf.git("mv", "areas/1.html", "areas/moved.html")
    shelf.put("areas/2.html", memory("Another text."))
    shelf.commit()
    shelf.put("areas/broken.html", memory("Mended."))  # no untracked file: git is asked about those over a pipe, and
    shelf.put("areas/4.html", memory("Not committed."))  # a full disk as it is played here would fill the pipe too
    (shelf.root / "areas/3.html").unlink()
    shelf.repo.close()
    return shelf.root.parent


def said(root: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Open the index of a corpus as always; return all that it says."""
    repo = Repo(root, _environ(root))
    with repo, open_index(root, lambda: repo, FixedClock()) as index:
        index.refresh()
        return contents(index)


def work_on(job: str, root: Path) -> None:
    """Do what is to be stopped."""
    repo = Repo(root, _environ(root))
    with repo, open_index(root, lambda: repo, FixedClock()) as index:
        index.rebuild() if job == "rebuild" else index.refresh()


def tried(job: str, before: Path, point: int, how: str) -> dict[str, Any]:
    """Try one point on a copy; ``wrong`` says what the next one found."""
    there = before.parent / "try"
    shutil.rmtree(there, ignore_errors=True)
    shutil.copytree(before, there, symlinks=True)
    root = there / "corpus"
    place = root / ".fabula" / "index.db"
    if job == "first":
        shutil.rmtree(place.parent)
    elif job == "replace":
        place.with_name("index.db-wal").unlink(missing_ok=True)
        place.write_bytes(b"\xff" * 8_192)
    status, ended = stopped(lambda: work_on(job, root), point, how)
    left = {file.name for file in place.parent.iterdir()} if place.parent.exists() else set()
    wrong = [] if said(root) == expected(before) else ["other rows than those of an index that was never stopped"]
    if isinstance(ended, dict) and "error" in ended:
        wrong.append(ended["error"])
    return {
        "job": job,
        "point": point,
        "how": how,
        "status": status,
        "ended": ended,
        "left": sorted(left),
        "wrong": wrong,
    }


_expected: dict[Path, dict[str, list[tuple[Any, ...]]]] = {}


def expected(before: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return what an index says that is made in peace."""
    if before not in _expected:
        there = before.parent / "peace"
        shutil.copytree(before, there, symlinks=True)
        shutil.rmtree(there / "corpus" / ".fabula")
        _expected[before] = said(there / "corpus")
    return _expected[before]


def _environ(root: Path) -> dict[str, str]:
    home = str(root.parent / "home")
    return {"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": home, "XDG_CONFIG_HOME": home, "GIT_CONFIG_NOSYSTEM": "1"}


def main() -> int:
    """Try all points; print what is wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1)
    every = parser.parse_args().every
    failures = tries = 0
    with tempfile.TemporaryDirectory() as folder:
        before = prepare(Path(folder))
        for job in JOBS:
            total = tried(job, before, 0, "kill")["ended"]["writes"]
            for how in WAYS:
                for point in range(1, total + 1, every):
                    found = tried(job, before, point, how)
                    tries += 1
                    if found["wrong"]:
                        failures += 1
                        print(found)
            print(f"{job}: {total} writes")
    print(f"{tries} tries, {failures} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
