"""Eight processes prune and undo one session while its agent writes: no byte is lost, no number is given twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from answers import damage
from rewriting_crowd import app_in, transcript

from fabula.app.record.block import BlockRequest, block
from fabula.app.record.undo import UndoRequest, undo
from fabula.kernel.errors import FabulaError
from fabula.record.vault.vault import Vault
from fabula.testing.transcripts import ClaudeSession

HERE = Path(__file__).resolve().parent


def test_eight_processes_on_one_session_lose_nothing_and_give_each_number_once(tmp_path: Path) -> None:
    session = ClaudeSession("crowd")
    for number in range(8):
        session.prompt(f"what does quay {number} say?")
        session.tool("Bash", {"command": f"cat {number}"}, f"quay {number} " * 200, detail={"stdout": "quay " * 300})
    path = session.save(tmp_path / ".claude")
    begun = path.read_bytes().splitlines(keepends=True)
    app_in(tmp_path).record.scan()

    command = [sys.executable, str(HERE / "rewriting_crowd.py"), str(tmp_path), "8", "2", "25"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["wrong"] == []
    assert len(seen["made"]) >= 4, seen
    assert len(set(seen["made"])) == len(seen["made"])

    app = app_in(tmp_path)
    app.record.scan()
    with Vault.open(app.home.vault, app.clock, read_only=True) as vault:
        generations = next(entry for entry in vault.sources() if entry.path == str(path)).generations
        assert [each.number for each in generations] == list(range(len(generations)))
        assert b"".join(vault.stream(generations[-1].id)) == path.read_bytes()
    assert damage(app.home.root) == []
    for record, line in zip(session.records, begun, strict=True):
        assert block(app, BlockRequest(record["uuid"])).to_bytes() + b"\n" == line
    taken_back = _undone(tmp_path)
    assert taken_back[: len(begun)] == begun
    late = [json.loads(line)["uuid"] for line in taken_back[len(begun) :]]
    assert sorted(late) == seen["appended"]
    assert all(b"late 7" in line or f"{7:012}" not in line.decode() for line in taken_back[len(begun) :])


def _undone(home: Path) -> list[bytes]:
    """Take every rewriting back and return the lines of the transcript."""
    import os

    path = transcript(home)
    while True:
        os.utime(path, (1_770_000_000, 1_770_000_000))
        try:
            undo(app_in(home), UndoRequest(path.stem, apply=True))
        except FabulaError:
            return path.read_bytes().splitlines(keepends=True)
