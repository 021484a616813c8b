"""Eight processes that prune, excise, undo and compose one session at once: each gets its turn or is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from answers import damage
from erasing_points import app_of
from rewriting_points import litter, numbers, rest, transcripts, worked

from fabula.record.vault.vault import Vault

HERE = Path(__file__).resolve().parent
WAIT_SECONDS = 120
#: A process that comes too late is told so; that is no fault.
TOO_LATE = {"ERR_LIVE", "ERR_NOT_FOUND", "ERR_CHANGED", "ERR_LOCKED"}


def at_once(home: Path, user: Path, commands: list[list[str]]) -> list[tuple[int, dict[str, Any]]]:
    """Run commands at the same time; return their statuses and envelopes."""
    environment = {**os.environ, "HOME": str(user), "FABULA_HOME": str(home), "PYTHONPATH": os.pathsep.join(sys.path)}
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "fabula", *words, "--json"],
            env=environment, cwd=user, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for words in commands
    ]  # fmt: skip
    ended = []
    for process in running:
        out, err = process.communicate(timeout=WAIT_SECONDS)
        assert out, err
        ended.append((process.returncode, json.loads(out)))
    return ended


def test_eight_at_once_use_no_number_and_no_id_twice_and_lose_nothing(tmp_path: Path) -> None:
    home, user = tmp_path / "record", tmp_path / "user"
    session = worked()
    path = session.save(user / ".claude")
    rest(path)
    before = path.read_bytes()
    app = app_of(home, user)
    app.record.scan()
    app.record.close()
    threads = list(dict.fromkeys(record["promptId"] for record in session.records if "promptId" in record))
    compositions = [["record", "compose", threads[n], threads[2], "--apply"] for n in (0, 1, 0)]
    excisions = [["record", "excise", session.id, threads[n], "--apply"] for n in (0, 1, 0)]
    others = [["record", "prune", session.id, "--apply"], ["record", "undo", session.id, "--apply"]]
    ended = at_once(home, user, [*compositions, *excisions, *others])
    assert {envelope.get("code", "") for status, envelope in ended if status} <= TOO_LATE
    made = [envelope["data"] for status, envelope in ended[:3] if not status]
    assert len(made) == len({one["session"] for one in made}) == 3
    assert sorted([str(path), *(one["path"] for one in made)]) == transcripts(path.parent)
    uuids = [json.loads(line).get("uuid") for one in made for line in Path(one["path"]).read_bytes().splitlines()]
    named = [uuid for uuid in uuids if uuid]
    assert len(set(named)) == len(named)
    assert any(not status for status, _ in ended[3:])
    assert litter(path.parent) == damage(home) == []
    used = numbers(home, str(path))
    assert used == list(range(len(used)))
    with Vault.open(home / "vault", app.clock, read_only=True) as vault:
        (entry,) = [entry for entry in vault.sources() if entry.path == str(path)]
        states = [b"".join(vault.stream(generation.id)) for generation in entry.generations]
    assert states[0] == before
    assert path.read_bytes() in states
