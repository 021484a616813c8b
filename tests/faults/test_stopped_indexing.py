"""An index that is killed, torn or without room while it is made or kept; ``index_points.py`` tries every write."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import index_points

SAMPLED = 3  # points of each job and way


@pytest.mark.parametrize("job", index_points.JOBS)
def test_after_a_stop_the_index_answers_as_if_it_had_never_been_stopped(job: str, tmp_path: Path) -> None:
    before = index_points.prepare(tmp_path)
    whole = index_points.tried(job, before, 0, "kill")
    assert whole["wrong"] == []
    total = whole["ended"]["writes"]
    assert total > 3
    points = sorted({1 + round(step * (total - 1) / SAMPLED) for step in range(SAMPLED + 1)})
    found = [index_points.tried(job, before, point, how) for point in points for how in index_points.WAYS]
    assert [one for one in found if one["wrong"]] == []
