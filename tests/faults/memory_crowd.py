"""Many processes write memories while a person commits other files with git in the same repository.

python memory_crowd.py                       eight writers of a hundred memories each
python memory_crowd.py ROOT NUMBER WRITES    one of them: the command line, again and again, all wanting one title
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tempfile
import time
from contextlib import redirect_stdout
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "storage" / "git"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "memory" / "index"))

from gitcorpus import Person

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "memory" / "index"))

from indexed import FixedClock, contents

from fabula.cli.main import main as fabula
from fabula.memory.index.opening import open_index
from fabula.memory.store.scaffold import init_corpus


def claim(number: int, step: int) -> str:
    """Return the fact that a writer states in a step."""
    return f"Writer {number} was in step {step}."


def write(root: str, number: int, writes: int) -> None:
    """Write memories; print what each writing said: its commit, its path, its claim."""
    for step in range(writes):
        words = ["memory", "write", "--type", "semantic", "--claim", claim(number, step), "--title", "Same title"]
        out = io.StringIO()
        with redirect_stdout(out):
            status = fabula([*words, "--session", f"w-{number}", "--corpus", root, "--json"])
        assert status == 0, out.getvalue()
        data = json.loads(out.getvalue())["data"]
        print(json.dumps([data["commit"], data["path"], claim(number, step)]), flush=True)


def crowd(folder: Path, writers: int, writes: int) -> int:
    """Let everyone work and see that nothing is lost; return how many commits the person made."""
    root = folder / "corpus"
    person = Person(root)
    init_corpus(root, person.environ, FixedClock())
    person.git("config", "user.name", "Ada")
    person.git("config", "user.email", "ada@example.org")
    environ = {**person.environ, "FABULA_HOME": str(folder / "fabula")}
    words = [sys.executable, str(Path(__file__).resolve()), str(root)]
    running = [
        subprocess.Popen((*words, str(number), str(writes)), stdout=subprocess.PIPE, text=True, env=environ)
        for number in range(writers)
    ]
    own: list[tuple[str, str]] = []
    while any(process.poll() is None for process in running):
        path = f"by-hand/{len(own)}.txt"
        person.write(path, f"mine {path}")
        assert _committed(person, path)
        own.append((person.git("log", "-1", "--format=%H", "--", path), path))
        time.sleep(0.02)
    told = [json.loads(line) for process in running for line in process.communicate()[0].splitlines()]
    assert [process.returncode for process in running] == [0] * writers
    _check_commits(person, told, own, writers * writes)
    for commit, path in own:
        assert person.git("show", "--name-only", "--format=", commit) == path
        assert person.git("show", f"HEAD:{path}") == f"mine {path}"
    assert person.status() == []
    assert person.git("fsck", "--full", "--strict", "--no-dangling") == ""
    with person.repo() as repo, open_index(root, lambda: repo, FixedClock()) as index:
        index.refresh()
        before = contents(index)
        index.rebuild()
        assert contents(index) == before
        assert len(before["files"]) == writers * writes
    return len(own)


def _committed(person: Person, path: str) -> bool:
    """Commit one file as a person does who tries again while git is busy; say whether it came to that."""
    for _ in range(200):
        person.git("add", path, check=False)
        person.git("commit", "--quiet", "-m", f"by hand {path}", "--", path, check=False)
        if person.git("log", "-1", "--format=%H", "--", path):
            return True
        time.sleep(0.01)
    return False


def _check_commits(person: Person, told: list[list[str]], own: list[tuple[str, str]], expected: int) -> None:
    """Each writing is one commit of one new file; its body is its own; all commits are known to somebody."""
    assert len(told) == expected == len({commit for commit, _, _ in told}) == len({path for _, path, _ in told})
    for _, path, said in told:
        assert f"<mark>{said}</mark>" in (person.root / path).read_text()
    listed = person.git("log", "--format=#%H", "--name-status").split("#")[1:]
    changes = {rows[0]: rows[1:] for rows in ([row for row in part.splitlines() if row] for part in listed)}
    assert {commit: changes[commit] for commit, _, _ in told} == {commit: [f"A\t{path}"] for commit, path, _ in told}
    assert sum("memhtml(write)" in subject for subject in person.subjects()) == expected
    assert own
    assert len(changes) == expected + len(own) + 1  # and the making of the corpus


if __name__ == "__main__":
    if sys.argv[1:]:
        write(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    else:
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as place:
            made = crowd(Path(place), writers=8, writes=100)
        print(f"800 commits, 800 bodies, {made} commits by hand, a clean repository: {time.monotonic() - began:.0f} s")
