"""Many writers and a person with git in one repository: nobody loses a body, each is told its own commit.

python git_crowd.py                       eight writers of a hundred commits each
python git_crowd.py ROOT NUMBER COMMITS   one of them: files of its own under a name that all want
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from git_points import made

from fabula.storage.git.repo import Repo
from fabula.storage.git.values import Put


def write(root: str, number: str, commits: str) -> None:
    """Write; print each commit with its path."""
    with Repo(Path(root), os.environ) as repo:
        for step in range(int(commits)):
            with repo.writing(wait_seconds=300) as turn:
                ordinal = 1
                while turn.find(path := f"areas/inbox/same-title-{ordinal}.html"):
                    ordinal += int(number) + 1
                body = f"<p>writer {number} body {step}</p>\n".encode()
                done = turn.commit([Put(path, body)], f"w{number}.{step}\n", "1700000000 +0000")
            assert done is not None
            print(json.dumps([done.id, path]), flush=True)


def crowd(folder: Path, writers: int, commits: int) -> None:
    """Let everyone write; everything must be there afterwards, and each must know its own commit."""
    person = made(folder, files={"README.html": "read"})
    words = [sys.executable, str(Path(__file__).resolve()), str(person.root)]
    running = [
        subprocess.Popen((*words, str(number), str(commits)), stdout=subprocess.PIPE, text=True, env=person.environ)
        for number in range(writers)
    ]
    own = 0
    while any(process.poll() is None for process in running):
        person.write(f"by-hand/{own}.html", str(own))
        added = person.git("add", f"by-hand/{own}.html", check=False)
        assert added == ""
        before = person.git("rev-parse", "HEAD")
        person.git("commit", "--quiet", "-m", f"person {own}", "--", f"by-hand/{own}.html", check=False)
        own += person.git("log", "-1", "--format=%s", f"{before}..HEAD", "--", f"by-hand/{own}.html") != ""
        time.sleep(0.02)
    told = [json.loads(line) for process in running for line in process.communicate()[0].splitlines()]
    assert [process.returncode for process in running] == [0] * writers
    assert len(told) == writers * commits == len({commit for commit, _ in told})
    subjects = person.subjects()
    assert sum(subject.startswith("w") for subject in subjects) == writers * commits
    assert own > 0
    rows = person.git("log", "--format=%H", "--name-only", "--diff-filter=A", "--", "areas").split("\n\n")
    of_commit = dict(zip(*[iter("\n".join(rows).split("\n"))] * 2, strict=True))
    assert {commit: of_commit[commit] for commit, _ in told} == dict(told)
    bodies = {path.read_text() for path in (person.root / "areas/inbox").iterdir()}
    assert bodies == {f"<p>writer {number} body {step}</p>\n" for number in range(writers) for step in range(commits)}
    assert person.git("log", "--diff-filter=DM", "--format=%s") == ""
    assert person.git("fsck", "--full", "--strict", "--no-dangling") == ""
    assert [row for row in person.status() if "by-hand" not in row] == []


if __name__ == "__main__":
    if sys.argv[1:]:
        write(*sys.argv[1:])
    else:
        with tempfile.TemporaryDirectory() as place:
            crowd(Path(place), writers=8, commits=100)
        print("800 commits, 800 bodies, a clean repository")
