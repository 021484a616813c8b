"""Changes of a memory that are killed, torn or find the disk full; ``store_points.py`` tries every point."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import store_points

HERE = Path(__file__).resolve().parent
POINTS = ("0.1:kill", "0.5:half", "0.45:full", "0.95:kill")  # how far it was


@pytest.mark.parametrize("job", store_points.JOBS)
def test_a_stopped_change_is_whole_or_not_there_and_the_index_is_as_one_made_anew(job: str, tmp_path: Path) -> None:
    command = [sys.executable, str(HERE / "store_points.py"), job, str(tmp_path), *POINTS]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one for one in found if one["wrong"]] == []
    assert [one["new"] for one in found if one["way"] == "kill"] == [False, True]


def test_an_init_that_is_killed_is_gone_on_with(tmp_path: Path) -> None:
    command = [sys.executable, str(HERE / "store_points.py"), "init", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) > 5
    assert [one for one in found if one["wrong"]] == []
