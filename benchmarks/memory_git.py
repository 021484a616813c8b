"""What a commit in a git corpus costs: single durable writes, one batch, opening, beside git itself on the same disk.

    python benchmarks/memory_git.py [--files 5000] [--writes 60] [--batch 5000] [--pygit2]

``--pygit2`` adds the same writes by that library, where it is installed (it is no part of Fabula): without and with its
syncing. The floor is what the disk takes to make one small file durable.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from fabula.storage.git.repo import Repo
from fabula.storage.git.values import Put

AT = "1700000000 +0000"
ASK_WRITE, ASK_BATCH = 25.0, 5_000.0  # milliseconds, at 5,000 files


def body(number: int) -> bytes:
    """Return a memory of the usual size."""
    return f"<!doctype html><title>{number}</title><article>{'word ' * 400}{number}</article>\n".encode()


def corpus(folder: Path, files: int, environ: dict[str, str]) -> Path:
    """Make a repository of many files with one commit by git itself."""
    root = folder / f"corpus-{time.monotonic_ns()}"
    for number in range(files):
        path = root / "areas" / f"t{number % 50}" / f"memory-{number}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body(number))
    root.mkdir(exist_ok=True)
    git(root, environ, "init", "-q", "-b", "main")
    git(root, environ, "add", "-A")
    git(root, environ, "commit", "-q", "--allow-empty", "-m", "first")
    return root


def git(root: Path, environ: dict[str, str], *words: str) -> None:
    """Run git."""
    subprocess.run(("git", "-C", str(root), *words), check=True, env=environ, capture_output=True)


def timed(job: Callable[[int], object], times: int) -> list[float]:
    """Return how long each call took, in milliseconds."""
    spent = []
    for number in range(times):
        begin = time.perf_counter()
        job(number)
        spent.append((time.perf_counter() - begin) * 1_000)
    return sorted(spent)


def line(name: str, spent: list[float], ask: float = 0.0) -> None:
    """Print one row."""
    median = statistics.median(spent)
    verdict = f"  ask {ask:.0f}: {'pass' if median <= ask else 'FAIL'}" if ask else ""
    print(f"{name:44} p50 {median:9.1f} ms  p95 {spent[int(len(spent) * 0.95)]:9.1f} ms{verdict}", flush=True)


def by_git(root: Path, environ: dict[str, str], number: int) -> None:
    """Write as a person does: add, commit."""
    path = root / "areas" / f"t{number % 50}" / f"git-{number}.html"
    path.write_bytes(body(number))
    git(root, environ, "add", str(path))
    git(root, environ, "-c", "core.fsync=all", "commit", "-q", "-m", "x")


def pygit2_writes(root: Path, times: int, *, syncs: bool) -> list[float]:
    """Write with pygit2: index, tree, commit, ref; without locks, journal or checks of a person's files."""
    import pygit2  # type: ignore[import-not-found, unused-ignore]

    pygit2.option(pygit2.enums.Option.ENABLE_FSYNC_GITDIR, syncs)
    repo = pygit2.Repository(str(root))
    someone = pygit2.Signature("Fabula", "fabula@localhost", 1_700_000_000, 0)

    def write(number: int) -> None:
        path = f"areas/t{number % 50}/pygit2-{syncs}-{number}.html"
        (root / path).write_bytes(body(number))
        repo.index.read()
        repo.index.add(path)
        repo.index.write()
        repo.create_commit("HEAD", someone, someone, "x", repo.index.write_tree(), [repo.head.target])

    return timed(write, times)


def floor(folder: Path, number: int) -> None:
    """Make one small file durable."""
    handle = os.open(folder / f"floor-{number}", os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(handle, body(number))
    os.fsync(handle)
    os.close(handle)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=5_000)
    parser.add_argument("--writes", type=int, default=60)
    parser.add_argument("--batch", type=int, default=5_000)
    parser.add_argument("--pygit2", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        environ = {**os.environ, "HOME": place, "GIT_CONFIG_NOSYSTEM": "1", "EMAIL": "a@example.org"}
        environ |= {
            f"GIT_{role}_{part}": "a@example.org" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")
        }
        line("floor: one small file made durable", timed(lambda number: floor(folder, number), asked.writes))
        root = corpus(folder, asked.files, environ)
        with Repo(root, environ) as repo:
            at_5000 = asked.files == 5_000

            def write(number: int) -> None:
                repo.commit([Put(f"areas/t{number % 50}/new-{number}.html", body(number))], "x\n", AT)

            line(f"one durable write among {asked.files:,}", timed(write, asked.writes), ASK_WRITE * at_5000)

            def batch(turn: int) -> None:
                changes = [
                    Put(f"areas/t{number % 50}/batch-{turn}-{number}.html", body(number))
                    for number in range(asked.batch)
                ]
                repo.commit(changes, "x\n", AT)

            line(f"a batch of {asked.batch:,}", timed(batch, 3), ASK_BATCH * (asked.batch == 5_000))
        root = corpus(folder, asked.files, environ)
        line("opening", timed(lambda _: Repo(root, environ).close(), 20))
        line("git add, git commit (synced)", timed(lambda number: by_git(root, environ, number), 20))
        if asked.pygit2:
            root = corpus(folder, asked.files, environ)
            line("pygit2, not synced", pygit2_writes(root, asked.writes, syncs=False))
            line("pygit2, synced", pygit2_writes(root, asked.writes, syncs=True))
            spent = [
                float(subprocess.run((sys.executable, "-c", code), capture_output=True, check=True, text=True).stdout)
                for code in ["import time; a=time.perf_counter(); import pygit2; print((time.perf_counter()-a)*1e3)"]
                * 5
            ]
            line("import pygit2", sorted(spent))


if __name__ == "__main__":
    main()
