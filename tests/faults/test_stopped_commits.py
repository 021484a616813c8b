"""A commit that is killed or finds the disk full, at some of its steps; ``git_points.py`` tries all."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import git_points
import pytest

HERE = Path(__file__).resolve().parent
SAMPLED = 4  # points of each job and way


@pytest.mark.parametrize("job", git_points.JOBS)
def test_a_stopped_commit_is_there_or_not_and_a_persons_work_is_as_it_was(job: str, tmp_path: Path) -> None:
    plan = git_points.prepare(job, tmp_path)

    def tried(points: list[tuple[int, str]]) -> list[dict[str, object]]:
        path = tmp_path / "plan.json"
        path.write_text(json.dumps({**plan, "points": points}), encoding="utf-8")
        command = [sys.executable, str(HERE / "git_points.py"), str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    whole = tried([(0, "kill")])[0]
    assert whole["wrong"] == []
    assert whole["new"]
    total = whole["ended"]["steps"]  # type: ignore[index]
    assert total > 20
    points = sorted({1 + round(step * (total - 1) / SAMPLED) for step in range(SAMPLED + 1)})
    found = tried([(point, how) for point in points for how in git_points.WAYS])
    assert [try_ for try_ in found if try_["wrong"]] == []
    assert {try_["new"] for try_ in found if try_["how"] == "kill"} == {True, False}
