"""How long commands take to start, beside a bare interpreter of the same environment.

Asks: ``fabula status --json`` and ``fabula record search X --json`` within 6 times ``python -c pass``. Wall time of
whole processes, in turns so that a busy machine burdens all alike; the smallest of each is taken. Prints figure, floor,
ratio, and whether the ask is met; exits 1 when one is not. Modules are compiled before, as an installer compiles them:
where the environment forbids to keep what was compiled (``PYTHONDONTWRITEBYTECODE``), this alone is lifted.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SAMPLES = Path(__file__).resolve().parents[1] / "tests" / "data" / "samples" / "home"
#: What of the samples is measured with: the transcripts of four agents, of which a search finds and reads some.
AGENTS = (".claude", ".codex", ".gemini", ".local/share/opencode")
ROUNDS = 30
ASK = 6.0

FLOOR = "python -c pass"
FABULA = [sys.executable, "-c", "import sys; from fabula.__main__ import run; sys.exit(run())"]
PROCESSES: dict[str, list[str]] = {
    FLOOR: [sys.executable, "-c", "pass"],
    "python -c 'import argparse'": [sys.executable, "-c", "import argparse"],
    "fabula --version": [*FABULA, "--version"],
    "fabula help record search": [*FABULA, "help", "record", "search"],
    "fabula status --json": [*FABULA, "status", "--json"],
    "fabula record search X --json": [*FABULA, "record", "search", "bucket", "--all", "--json"],
}
ASKED = ("fabula status --json", "fabula record search X --json")


def measure(environment: dict[str, str]) -> dict[str, float]:
    """Return the smallest wall time of each process, in milliseconds."""
    best = dict.fromkeys(PROCESSES, float("inf"))
    for _ in range(ROUNDS):
        for name, words in PROCESSES.items():
            begun = time.perf_counter()
            subprocess.run(words, env=environment, stdout=subprocess.DEVNULL, check=True)
            best[name] = min(best[name], (time.perf_counter() - begun) * 1000)
    return best


def main() -> int:
    """Index the samples once, measure, print the table."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        for agent in AGENTS:
            shutil.copytree(SAMPLES / agent, home / agent)
        environment = {**os.environ, "HOME": str(home), "FABULA_HOME": str(home / "fabula")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        subprocess.run([*FABULA, "record", "scan"], env=environment, stdout=subprocess.DEVNULL, check=True)
        best = measure(environment)
    met = True
    for name, milliseconds in best.items():
        ratio = milliseconds / best[FLOOR]
        verdict = ""
        if name in ASKED:
            met = met and ratio <= ASK
            verdict = f"ask {ASK:.0f} x: {'pass' if ratio <= ASK else 'FAIL'}"
        print(f"{name:<32} {milliseconds:7.1f} ms  {ratio:5.2f} x  {verdict}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
