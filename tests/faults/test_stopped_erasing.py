"""A forgetting or a collecting that is killed, or finds the disk full; ``erasing_points.py`` tries many more points."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import erasing_points
import pytest

HERE = Path(__file__).resolve().parent
SAMPLED = 6  # points of each job


def tried(plan: dict[str, Any], points: list[tuple[int, str]]) -> list[dict[str, Any]]:
    """Try the points in one process that forks a child for each: threads of the test runner are not copied."""
    path = Path(plan["work"]) / "plan.json"
    path.write_text(json.dumps({**plan, "points": points}), encoding="utf-8")
    command = [sys.executable, str(HERE / "erasing_points.py"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("job", erasing_points.JOBS)
def test_what_is_erased_is_gone_or_whole_after_a_stop_and_nothing_else_is_lost(job: str, tmp_path: Path) -> None:
    plan = erasing_points.prepare(job, tmp_path)
    right = tried(plan, [(0, "kill")])[0]
    assert right["wrong"] == ""
    total = right["ended"]["writes"]
    assert total > 100
    points = [1 + round(step * (total - 1) / SAMPLED) for step in range(SAMPLED + 1)]
    ways = erasing_points.WAYS
    for found in tried(plan, [(point, ways[at % len(ways)]) for at, point in enumerate(points)]):
        assert found["wrong"] == "", found
