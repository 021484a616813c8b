"""Readers while a scan writes, and scans at once: real processes on one record."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from answers import access_to, answers, damage, unsealed
from command import SAMPLES, User

from fabula.testing.mutations import reseeded

HERE = Path(__file__).resolve().parent


def crowd(user: User, readers: int, scanners: int) -> dict[str, Any]:
    command = [sys.executable, str(HERE / "crowd.py"), str(user.record), str(user.home), str(readers), str(scanners)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def grow(user: User, copies: int) -> None:
    """Add copies of the transcripts under new ids."""
    for number in range(copies):
        for path in (SAMPLES / ".claude" / "projects").glob("*/*.jsonl"):
            target = (
                user.home / ".claude" / "projects" / f"copy-{number}" / reseeded(path.name.encode(), number).decode()
            )
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(reseeded(path.read_bytes(), number))


def answered(user: User, record: Path) -> dict[str, list[Any]]:
    access = access_to(record, user.home)
    access.scan()
    found = answers(access)
    access.close()
    return found


def test_sixteen_readers_go_on_while_a_scan_writes(tmp_path: Path) -> None:
    user = User.with_samples(tmp_path)
    assert user.run("record", "scan").status == 0
    grow(user, 24)
    seen = crowd(user, 16, 1)
    assert seen["wrong"] == []
    assert seen["scans"][0] > 2000
    assert min(seen["reads"]) >= 1
    assert damage(user.record) == unsealed(user.record) == []


def test_scans_at_once_take_everything_in_once(tmp_path: Path) -> None:
    user = User.with_samples(tmp_path)
    grow(user, 3)
    seen = crowd(user, 0, 4)
    assert seen["wrong"] == []
    assert [count > 0 for count in seen["scans"]] == [False, False, False, True]
    assert answered(user, user.record) == answered(user, tmp_path / "alone")
    assert damage(user.record) == unsealed(user.record) == []
