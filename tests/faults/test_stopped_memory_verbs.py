"""``fabula memory`` killed, torn or with a full disk at a write; ``memory_points.py`` tries every point of each."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import memory_points
import pytest

POINTS = ("0.05:full", "0.1:kill", "0.4:half", "0.5:full", "0.95:kill")  # how far it was


@pytest.mark.parametrize("job", memory_points.JOBS)
def test_a_command_that_is_stopped_did_all_or_nothing_and_said_so_truly(job: str, tmp_path: Path) -> None:
    driver = Path(memory_points.__file__)
    done = subprocess.run(
        [sys.executable, str(driver), job, str(tmp_path), *POINTS],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one for one in found if one["wrong"]] == []
    assert [one["status"] for one in found if one["how"] != "full"] == [-9, -9, -9]
    if job != "rebuild":
        assert found[0]["ended"]["code"] == "ERR_DISK"
        assert [one["new"] for one in found if one["how"] == "kill"] == [False, True]
