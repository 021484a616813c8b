"""Transcripts that grow between scans, cut anywhere: taking them in bit by bit gives what one scan of all gives."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest
from answers import access_to, answers, damage, unsealed
from command import SAMPLES

from fabula.testing.mutations import mutated, reseeded

#: What does not depend on how the files came in.
ASKED = ("bytes", "links", "sessions", "touches", "responses", "citations", "failures")


def transcripts(folder: Path, random: Random, *, malformed: bool) -> dict[Path, bytes]:
    """Return new copies of Claude Code's and Codex's sample transcripts, by where they belong in a user's home."""
    found = {}
    samples = sorted([*SAMPLES.rglob(".claude/projects/**/*.jsonl"), *SAMPLES.rglob("rollout-*.jsonl")])
    for number, path in enumerate(samples):
        data = reseeded(path.read_bytes(), number)
        name = reseeded(str(path.relative_to(SAMPLES)).encode(), number).decode()
        found[folder / name] = mutated(data, random)[0] if malformed else data
    return found


def everything(home: Path, user: Path) -> dict[str, list[object]]:
    access = access_to(home, user)
    access.scan()
    found = answers(access)
    access.close()
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("malformed", [False, True], ids=["good", "malformed"])
def test_taken_in_bit_by_bit_a_file_gives_the_same_record(tmp_path: Path, seed: int, malformed: bool) -> None:
    random = Random(seed)
    user, grown, whole = tmp_path / "user", tmp_path / "grown", tmp_path / "whole"
    wanted = transcripts(user, random, malformed=malformed)
    for path in wanted:
        path.parent.mkdir(parents=True, exist_ok=True)
    for step in range(1, 6):
        for path, data in wanted.items():
            end = len(data) if step == 5 else random.randint(path.stat().st_size if path.exists() else 0, len(data))
            with path.open("ab") as out:
                out.write(data[out.tell() : end])
            os.utime(path, ns=(step * 10**9, step * 10**9))  # the same order of files each time
        taken_in = everything(grown, user)
    assert {path: path.read_bytes() for path in wanted} == wanted
    at_once = everything(whole, user)
    for question in ASKED:
        missing = sorted(set(at_once[question]) - set(taken_in[question]))
        extra = sorted(set(taken_in[question]) - set(at_once[question]))
        assert (question, missing, extra) == (question, [], [])
        assert taken_in[question] == at_once[question]
    assert damage(grown) == unsealed(grown) == []
