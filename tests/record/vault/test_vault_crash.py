"""A writer that is killed, or finds the disk full, at any step of a commit leaves the old or the new state."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="needs fork")
@pytest.mark.parametrize("how", ["before", "half", "full"])
def test_a_writer_stopped_at_any_step_leaves_the_old_or_the_new_state(tmp_path: Path, how: str) -> None:
    done = subprocess.run(
        [sys.executable, str(HERE / "crash_driver.py"), str(tmp_path), how], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout) > 30  # steps that were tried
