"""A reading, fold, compaction or export that is killed or finds the disk full; ``state_points.py`` tries all."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import state_points

DRIVER = state_points.__file__
SAMPLED = 3  # points of each job and way, with the ends of the range


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return state_points.prepare(tmp_path_factory.mktemp("state") / "origin")


def tried(job: str, origin: Path, *points: str) -> list[dict[str, Any]]:
    command = [sys.executable, str(DRIVER), job, str(origin), *points]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("job", state_points.JOBS)
def test_a_job_that_is_stopped_loses_no_entry_and_counts_none_twice(job: str, origin: Path) -> None:
    (whole,) = tried(job, origin, "0:kill")
    writes = whole["ended"]["writes"]
    assert whole["wrong"] == []
    assert writes > 3
    points = sorted({1 + round(step * (writes - 1) / SAMPLED) for step in range(SAMPLED + 1)})
    for found in tried(job, origin, *(f"{point}:{how}" for point in points for how in state_points.WAYS)):
        # how often git's lock is asked for varies, so a run may end before its last points
        assert found["status"] == -9 or found["how"] == "full" or found["ended"]["writes"] < found["point"]
        assert found["wrong"] == [], found
