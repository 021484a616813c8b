"""A merge or a forgetting that is killed at some of its steps; ``history_points.py`` tries all."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import history_points

SAMPLED = 4  # points of each job


@pytest.mark.parametrize("job", history_points.JOBS)
def test_a_stopped_job_leaves_the_old_history_or_the_new_one_on_all_branches(job: str, tmp_path: Path) -> None:
    before = history_points.prepare(tmp_path)
    whole = history_points.tried(job, before, 0, "kill")
    assert whole["wrong"] == []
    assert whole["new"]
    total = whole["steps"]
    assert total > 30
    points = sorted({1 + round(step * (total - 1) / SAMPLED) for step in range(SAMPLED + 1)})
    found = [history_points.tried(job, before, point, "kill") for point in points]
    assert [one for one in found if one["wrong"]] == []
    assert {one["new"] for one in found} == {True, False}
