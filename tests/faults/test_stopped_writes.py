"""A scan or rebuild that is killed or finds the disk full, at some of its writes; ``write_points.py`` tries all."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import write_points

HERE = Path(__file__).resolve().parent
SAMPLED = 5  # points of each job and way; with the ends of the range


def tried(plan: dict[str, Any], points: list[tuple[int, str]]) -> list[dict[str, Any]]:
    """Try the points in one process that forks a child for each: threads of the test runner are not copied."""
    path = Path(plan["work"]) / "plan.json"
    path.write_text(json.dumps({**plan, "points": points}), encoding="utf-8")
    command = [sys.executable, str(HERE / "write_points.py"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("job", write_points.JOBS)
def test_a_scan_after_a_stopped_one_gives_the_same_answers(job: str, tmp_path: Path) -> None:
    plan = write_points.prepare(job, tmp_path)
    right = tried(plan, [(0, "kill")])[0]
    total = right["ended"]["writes"]
    assert right["seen"]["damage"] == right["seen"]["unsealed"] == []
    assert total > 20
    points = sorted({1 + round(step * (total - 1) / SAMPLED) for step in range(SAMPLED + 1)})
    for found in tried(plan, [(point, how) for point in points for how in ("kill", "half", "full")]):
        if found["how"] != "full":
            # the number of writes varies by one or two, so a run may end before its last point
            assert found["status"] == -9 or found["ended"]["writes"] < found["point"]
        else:
            assert found["status"] == 0
            assert found["ended"]["code"] in {"ERR_DISK", ""}
        assert found["seen"] == right["seen"], (found["how"], found["point"])
