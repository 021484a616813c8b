"""An encrypting or decrypting that is killed, or finds the disk full; ``converting_points.py`` tries many more."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("nacl")

import converting_points

HERE = Path(__file__).resolve().parent
SAMPLED = 7  # points of each job


def tried(plan: dict[str, Any], points: list[tuple[int, str]]) -> list[dict[str, Any]]:
    """Try the points in one process that forks a child for each: threads of the test runner are not copied."""
    path = Path(plan["work"]) / "plan.json"
    path.write_text(json.dumps({**plan, "points": points}), encoding="utf-8")
    command = [sys.executable, str(HERE / "converting_points.py"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("job", converting_points.JOBS)
def test_a_stopped_conversion_leaves_the_old_vault_or_the_new_one(
    job: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabula.record.vault.filling.PACK_LIMIT", 60_000)
    for verb in ("encrypt", "decrypt"):
        monkeypatch.setattr(f"fabula.app.vault.{verb}.require_consent", lambda *_: None)
    plan = converting_points.prepare(job, tmp_path)
    right = tried(plan, [(0, "kill")])[0]
    assert (right["wrong"], right["seen"]["kinds"]) == ("", [job == "encrypt"])
    total = right["ended"]["writes"]
    assert total > 100
    points = [1 + round((total - 1) * (step / SAMPLED) ** 2) for step in range(SAMPLED + 1)]  # the commit comes early
    ways = converting_points.WAYS
    for found in tried(plan, [(point, ways[at % len(ways)]) for at, point in enumerate(points)]):
        assert found["wrong"] == "", found
