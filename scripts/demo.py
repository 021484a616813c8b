"""What Fabula does, shown on bundled samples or on copies of your own newest transcripts. Called by ``make demo``.

Everything is made in a temporary folder that is removed at the end; originals are only read.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
SAMPLES = REPOSITORY / "tests" / "data" / "samples" / "home"
OWN_BYTES = 200_000_000
SHOWN_LINES = 28
EDITED = re.compile(r'"file_path": ?"((?:[^"\\]|\\.)+)"')


@dataclass(frozen=True)
class Tour:
    """What to look at: queries, a file with a history, an error."""

    queries: list[str]
    file: str
    error: str


SAMPLE_TOUR = Tour(
    queries=["token bucket or sliding window", "host:codex forget_idle slow", "全角 半角 検索"],
    file="/home/mira/code/harbor/src/harbor/limiter.py",
    error="sqlite3.OperationalError: database is locked",
)


class Fabula:
    """Calls the command line in a temporary home and shows each call as a person would type it."""

    def __init__(self, home: Path, own: Path) -> None:
        self._environment = {**os.environ, "HOME": str(home), "FABULA_HOME": str(own)}
        for variable in (
            "CLAUDE_CONFIG_DIR",
            "CODEX_HOME",
            "GEMINI_CLI_HOME",
            "OPENCODE_DB",
            "FABULA_DISABLE",
            "FABULA_MEMORY",
        ):
            self._environment.pop(variable, None)
        for variable in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
            self._environment.pop(variable, None)

    def run(self, *words: str) -> str:
        """Run one command and return what it wrote."""
        command = [sys.executable, "-m", "fabula", *words]
        done = subprocess.run(command, env=self._environment, capture_output=True, check=False)
        if done.returncode:
            sys.exit(f"fabula {shlex.join(words)} failed:\n{done.stderr.decode()}")
        return done.stdout.decode()

    def data(self, *words: str) -> Any:
        """Run one command and return the data of its envelope."""
        return json.loads(self.run(*words, "--json"))["data"]

    def show(self, title: str, *words: str) -> None:
        """Show a command, its result (cut to a screen) and how long it took."""
        begun = time.perf_counter()
        lines = self.run(*words).rstrip("\n").split("\n")
        seconds = time.perf_counter() - begun
        print(f"\n── {title}\n$ fabula {shlex.join(words)}")
        print("\n".join(lines[:SHOWN_LINES]))
        if len(lines) > SHOWN_LINES:
            print(f"… {len(lines) - SHOWN_LINES} more lines")
        print(f"({seconds:.2f} s, start of the program included)")


def own_transcripts(home: Path) -> list[tuple[Path, Path]]:
    """Return (file, place below a home folder) of the user's newest transcripts, up to ``OWN_BYTES``."""
    environment = os.environ
    roots = [Path(text).expanduser() for text in environment.get("CLAUDE_CONFIG_DIR", "").split(",") if text]
    places = [(root / "projects", Path(".claude/projects")) for root in roots or [home / ".claude"]]
    codex = Path(environment.get("CODEX_HOME") or home / ".codex")
    places.append((codex / "sessions", Path(".codex/sessions")))
    gemini = Path(environment.get("GEMINI_CLI_HOME") or home) / ".gemini"
    places.append((gemini / "tmp", Path(".gemini/tmp")))
    found = []
    for folder, below in places:
        for file in folder.rglob("*"):
            try:
                if file.is_file():
                    found.append((file.stat().st_mtime, file.stat().st_size, file, below / file.relative_to(folder)))
            except OSError:  # a file that vanished meanwhile is not shown
                continue
    chosen, total = [], 0
    for _, size, file, place in sorted(found, key=lambda item: -item[0]):
        if total + size <= OWN_BYTES:
            total += size
            chosen.append((file, place))
    print(f"copying {len(chosen)} of {len(found)} transcripts ({total / 1e6:.0f} MB) into a temporary folder")
    return chosen


def copy_own(target: Path) -> None:
    """Copy the user's newest transcripts into a temporary home folder."""
    for file, place in own_transcripts(Path.home()):
        (target / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, target / place)


def own_tour(fabula: Fabula, home: Path) -> Tour:
    """Choose what to look at in the user's own record: titles of sessions, a file that was edited, an error."""
    titles = [row["title"] for row in fabula.data("record", "sessions", "--all", "--limit", "40")["sessions"]]
    queries = [" ".join(title.split()[:8]) for title in titles if len(title.split()) >= 3][:3]
    errors = fabula.data("record", "failures", "--all", "--limit", "1")["occurrences"]
    return Tour(queries, edited_file(home), errors[0]["message"] if errors else "")


def edited_file(home: Path) -> str:
    """Return the file that the newest transcripts edit most often, or ``""``."""
    counts: Counter[str] = Counter()
    newest = sorted((home / ".claude").rglob("*.jsonl"), key=lambda file: -file.stat().st_mtime)[:20]
    for transcript in newest:
        for line in transcript.read_bytes().splitlines():
            if b'"Edit"' in line or b'"Write"' in line:
                counts.update(json.loads(f'"{text}"') for text in EDITED.findall(line.decode("utf-8", "replace")))
    return counts.most_common(1)[0][0] if counts else ""


def tour(fabula: Fabula, stops: Tour) -> None:
    """Walk through finding and reading."""
    for query in stops.queries:
        fabula.show("find conversations", "record", "search", "--all", "--limit", "3", query)
    hits = fabula.data("record", "search", "--all", "--limit", "1", stops.queries[0])["hits"] if stops.queries else []
    if hits:
        fabula.show("read one under a budget", "record", "thread", hits[0]["thread"], "--budget", "800")
    if stops.file:
        fabula.show("who changed this file, when, why", "record", "file", stops.file)
    if stops.error:
        fabula.show("this error, the last time", "record", "failures", "--all", "--limit", "2", stops.error)


def memory_tour(fabula: Fabula) -> None:
    """Walk through the memory: keep a fact, find it, correct it, recall it beside the record."""
    fabula.show("make a memory: a git repository of its own", "init", "--memory")
    fact = "The limiter uses a token bucket. Bursts of 20 are wanted; a sliding window would refuse them."
    fabula.show("keep one fact", "remember", fact)
    fabula.show("find it by its meaning", "memory", "search", "--all", "how are bursts of requests limited")
    path = fabula.data("memory", "list")["memories"][0]["path"]
    better = ("--claim", "The limiter uses a token bucket with bursts of 40.", "--reason", "measured in March")
    fabula.show("correct it: the old one goes to the archive", "memory", "correct", path, *better)
    fabula.show("memory and record in one text", "recall", "--all", "--budget", "600", "token bucket or sliding window")


def next_steps(*, mine: bool) -> None:
    """Say how to go on."""
    print("\n── next")
    print("everything above was made in a temporary folder, which is gone now; your transcripts were only read")
    if not mine:
        print("  make demo MINE=1              the same on the newest 200 MB of your own transcripts")
    print("  .venv/bin/fabula doctor       what is found here, and what is not")
    print("  .venv/bin/fabula record scan  take in everything, for good")
    print("  .venv/bin/fabula help         what else there is")


def main() -> int:
    """Set up a temporary home, index it, walk through it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mine", action="store_true", help="use copies of your own newest transcripts")
    mine = parser.parse_args().mine
    with tempfile.TemporaryDirectory(prefix="fabula-demo-") as name:
        home = Path(name) / "home"
        if mine:
            home.mkdir()
            copy_own(home)
        else:
            shutil.copytree(SAMPLES, home)
        fabula = Fabula(home, Path(name) / "fabula")
        fabula.show("take in what the agents wrote", "record", "scan")
        tour(fabula, own_tour(fabula, home) if mine else SAMPLE_TOUR)
        memory_tour(fabula)
    next_steps(mine=mine)
    return 0


if __name__ == "__main__":
    sys.exit(main())
