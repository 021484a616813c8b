"""Try the built wheel as a stranger would: no extras, an empty environment, a folder that is not the checkout.

Runs every command's help, the manifest, and one full cycle over the bundled samples: scan, search, thread, block,
verify, restore. Usage: ``python scripts/try_wheel.py DIST``. Exits 1 at the first thing that does not hold.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
SAMPLES = REPOSITORY / "tests" / "data" / "samples" / "home"
QUERY = "token bucket or sliding window"


class Fabula:
    """The installed program, called in a folder of its own with the samples as its home."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._program = program
        self._folder = folder
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "FABULA_HOME": str(folder / "fabula"),
            "LANG": "C.UTF-8",
        }

    def __call__(self, *words: str) -> bytes:
        """Run one command; it must succeed and say nothing on standard error. Returns standard output."""
        done = subprocess.run(
            [self._program, *words], cwd=self._folder, env=self._environment, capture_output=True, check=False
        )
        if done.returncode or done.stderr:
            sys.exit(f"fabula {' '.join(words)}: exit {done.returncode}\n{done.stdout.decode()}{done.stderr.decode()}")
        return done.stdout

    def data(self, *words: str) -> Any:
        """Run one command with ``--json`` and return the envelope's data."""
        return json.loads(self(*words, "--json"))["data"]


def install(dist: Path, folder: Path) -> Path:
    """Install the wheel and its locked requirements into an empty environment; return the program's path."""
    (wheel,) = dist.glob("*.whl")
    venv.create(folder / "venv", with_pip=True)
    binaries = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    pip: list[str | Path] = [binaries / "python", "-m", "pip", "--quiet", "--disable-pip-version-check"]
    locked = REPOSITORY / "requirements" / "base.txt"
    subprocess.run([*pip, "install", "--require-hashes", "-r", locked], cwd=folder, check=True)
    subprocess.run([*pip, "install", "--no-deps", wheel.resolve()], cwd=folder, check=True)
    subprocess.run([*pip, "check"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return binaries / "fabula"


def cycle(fabula: Fabula, folder: Path) -> None:
    """Index, find, read, verify, restore."""
    totals = fabula.data("record", "scan")["totals"]
    expect(totals["indexed"] > 100, f"the samples were indexed: {totals}")
    expect(totals["objects"] == totals["indexed"] + sum(totals["skipped"].values()), "every object is accounted for")
    hits = fabula.data("record", "search", "--all", QUERY)["hits"]
    expect(bool(hits), "a search finds the conversation")
    thread = hits[0]["thread"]
    expect(b"bucket" in fabula("record", "thread", thread), "the thread can be read")
    session = next((SAMPLES / ".claude" / "projects").rglob("1b82f12e*.jsonl"))
    line = next(
        line for line in session.read_bytes().splitlines() if b'"type":"user"' in line or b'"type": "user"' in line
    )
    expect(fabula("record", "block", json.loads(line)["uuid"]).rstrip(b"\n") == line, "a block is the record's bytes")
    fabula("record", "verify")
    restored = folder / "restored.jsonl"
    copy = next((folder / "home" / ".claude" / "projects").rglob("1b82f12e*.jsonl"))
    copy.unlink()
    fabula("record", "restore", session.stem, "--output", str(restored))
    expect(restored.read_bytes() == session.read_bytes(), "a deleted transcript comes back byte for byte")
    expect(bool(fabula.data("record", "search", "--all", QUERY)["hits"]), "and is still found")


def expect(held: bool, what: str) -> None:
    """Say what holds; end at the first thing that does not."""
    if not held:
        sys.exit(f"does not hold: {what}")
    print(f"  holds: {what}")


def main() -> int:
    """Install, run every help, the manifest and one cycle."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(SAMPLES, folder / "home")
        fabula = Fabula(install(Path(sys.argv[1]), folder), folder)
        commands = fabula.data("manifest")["commands"]
        for command in commands:
            fabula("help", *command["path"])
            fabula(*command["path"], "--help")
        expect(bool(commands), f"{len(commands)} commands and their help")
        cycle(fabula, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
