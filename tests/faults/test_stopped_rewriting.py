"""Prunings, excisions, undoings and compositions that are killed or find the disk full: a few points of very many."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import rewriting_points

HERE = Path(__file__).resolve().parent
SAMPLED = 3  # points of each job


def tried(plan: dict[str, Any], points: list[tuple[int, str]]) -> list[dict[str, Any]]:
    """Try the points in one process that forks a child for each: threads of the test runner are not copied."""
    path = Path(plan["work"]) / "plan.json"
    path.write_text(json.dumps({**plan, "points": points}), encoding="utf-8")
    command = [sys.executable, str(HERE / "rewriting_points.py"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("job", rewriting_points.JOBS)
def test_a_stop_leaves_the_old_file_or_the_new_one_and_repeating_ends_well(job: str, tmp_path: Path) -> None:
    plan = rewriting_points.prepare(job, tmp_path)
    right = tried(plan, [(0, "kill")])[0]
    assert right["wrong"] == ""
    total = right["ended"]["writes"]
    assert total > 40
    points = [1 + round(step * (total - 1) / SAMPLED) for step in range(SAMPLED + 1)]
    ways = rewriting_points.WAYS
    found = tried(plan, [(0, "kill"), *((point, ways[at % len(ways)]) for at, point in enumerate(points))])
    assert [one["wrong"] for one in found] == [""] * len(found), found
