"""How long things take, and what of that is the machine's."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Spent:
    """Wall milliseconds of some runs."""

    runs: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median."""
        return statistics.median(self.runs)

    @property
    def p95(self) -> float:
        """The value below which 95 % lie (nearest rank)."""
        return sorted(self.runs)[min(len(self.runs) - 1, int(len(self.runs) * 0.95))]

    @property
    def least(self) -> float:
        """The smallest."""
        return min(self.runs)

    def __str__(self) -> str:
        if len(self.runs) == 1:
            return _shown(self.runs[0])
        return f"{_shown(self.median)} / {_shown(self.p95)}"


def _shown(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.2f} s" if milliseconds >= 2_000 else f"{milliseconds:.1f} ms"


def timed(job: Callable[..., object], over: Iterable[object]) -> Spent:
    """Run a job on each of some values."""
    runs = []
    for one in over:
        begun = time.perf_counter()
        job(one)
        runs.append((time.perf_counter() - begun) * 1000)
    return Spent(tuple(runs))


def processes(commands: Iterable[Sequence[str]], environment: Mapping[str, str]) -> Spent:
    """Run commands one after another as processes of their own."""

    def run(words: Sequence[str]) -> None:
        subprocess.run(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)

    return timed(run, commands)


def bare_interpreter(environment: Mapping[str, str], times: int = 20) -> Spent:
    """Start Python and end it."""
    return processes([[sys.executable, "-c", "pass"]] * times, environment)


def durable_file(folder: Path, times: int = 60) -> Spent:
    """Make one file of a memory's size durable."""

    def write(number: object) -> None:
        handle = os.open(folder / f"floor-{number}", os.O_WRONLY | os.O_CREAT, 0o600)
        os.write(handle, b"x" * 1_300)
        os.fsync(handle)
        os.close(handle)

    return timed(write, range(times))


def reading(paths: Sequence[Path]) -> Spent:
    """Read every file once."""
    return timed(lambda _: [path.read_bytes() for path in paths], range(3))
