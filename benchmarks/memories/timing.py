"""How long things take, and what of that is the machine's."""

from __future__ import annotations

import hashlib
import json
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


#: Wall ms of the yardstick on the machine for which the asks were written, with nothing else running.
REFERENCE = 3.0


@dataclass(frozen=True, slots=True)
class Spent:
    """Wall milliseconds of some runs, and CPU milliseconds of each on average, processes that it started included.

    ``pace``: how many times longer than on the quiet reference machine a fixed piece of work took around them; asks are
    scaled by it, so that a slow or busy machine is not taken for a slow program.
    """

    runs: tuple[float, ...]
    pace: float = 1.0
    cpu: float = 0.0

    @property
    def median(self) -> float:
        """The median."""
        return statistics.median(self.runs)

    @property
    def p95(self) -> float:
        """The value below which 95 % lie (nearest rank)."""
        return sorted(self.runs)[min(len(self.runs) - 1, int(len(self.runs) * 0.95))]

    def __str__(self) -> str:
        shown = [self.median] if len(self.runs) == 1 else [self.median, self.p95]
        divisor, unit = (1000, "s") if self.median >= 2_000 else (1, "ms")
        return " / ".join(f"{one / divisor:.{1 + (unit == 's')}f}" for one in shown) + f" {unit}"


def timed(job: Callable[..., object], over: Iterable[object]) -> Spent:
    """Run a job on each of some values, a yardstick before and after."""
    runs = []
    pace = [_yardstick() for _ in range(12)]
    cpu = _cpu()
    for one in over:
        begun = time.perf_counter()
        job(one)
        runs.append((time.perf_counter() - begun) * 1000)
    cpu = (_cpu() - cpu) / len(runs)
    pace += [_yardstick() for _ in range(12)]
    return Spent(tuple(runs), statistics.median(pace) / REFERENCE, cpu)


def _cpu() -> float:
    """Return the CPU ms of this process and of those that it started and that ended."""
    return sum(os.times()[:4]) * 1000


def _yardstick() -> float:
    """Return the wall ms of a fixed piece of work: JSON, a hash, a dictionary, a sort."""
    begun = time.perf_counter()
    rows = [{"number": number, "text": f"row {number * 7919 % 1009} of many"} for number in range(3_000)]
    text = json.dumps(rows)
    hashlib.sha256(text.encode()).hexdigest()
    counted: dict[str, int] = {}
    for row in json.loads(text):
        counted[row["text"]] = counted.get(row["text"], 0) + row["number"]
    sorted(counted.items(), key=lambda pair: -pair[1])
    return (time.perf_counter() - begun) * 1000


def together(parts: Sequence[Spent]) -> Spent:
    """Return the runs of several measurements as one."""
    runs = tuple(run for part in parts for run in part.runs)
    cpu = sum(part.cpu * len(part.runs) for part in parts) / len(runs)
    return Spent(runs, statistics.median(part.pace for part in parts), cpu)


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
