"""Floors: the least that a job could cost here, measured in the same run as the job."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

#: CPU seconds that reading and decoding a byte costs on the machine for which the absolute asks were written.
REFERENCE_DECODE = 0.38 / 85_036_172


def best_cpu(job: Callable[[], object], repeats: int = 3) -> float:
    """Return the least CPU seconds of a few runs."""
    least = float("inf")
    for _ in range(repeats):
        began = time.process_time()
        job()
        least = min(least, time.process_time() - began)
    return least


def decode_floor(paths: Sequence[Path]) -> float:
    """CPU seconds to read every file and decode every line once."""
    decode = msgspec.json.Decoder().decode

    def job() -> None:
        for path in paths:
            with path.open("rb") as lines:
                for line in lines:
                    try:
                        decode(line)
                    except (msgspec.DecodeError, UnicodeDecodeError):
                        continue

    return best_cpu(job)


def stat_floor(paths: Sequence[Path]) -> float:
    """CPU seconds to ask for the size and times of every file once."""
    names = [str(path) for path in paths]
    return best_cpu(lambda: [os.stat(name) for name in names], repeats=5)
