"""A thousand malformed files: no crash, no endless loop, no lost neighbour; ``benchmarks/fuzz_record.py`` does more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

from fabula.testing.mutations import MUTATIONS, Line, mutated, reseeded

REPOSITORY = Path(__file__).resolve().parents[2]
SCRIPT = REPOSITORY / "benchmarks" / "fuzz_record.py"
SAMPLES = REPOSITORY / "tests" / "data" / "samples" / "home"


def test_a_thousand_malformed_files_cost_nothing_but_their_damage() -> None:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "src")}
    command = [sys.executable, str(SCRIPT), "--count", "1000", "--seed", "1", "--limit", "100"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_mutation_leaves_the_lines_that_it_calls_whole() -> None:
    data = max(SAMPLES.rglob("*.jsonl"), key=lambda path: path.stat().st_size).read_bytes()
    for seed in range(100):
        damaged, whole = mutated(data, Random(seed))
        assert len(whole) >= 20
        assert all(line in damaged for line in whole)


def test_every_mutation_changes_something() -> None:
    data = b'{"uuid":"11111111-1111-4111-8111-111111111111","parentUuid":null,"n":1}\n{"uuid":"b","n":2}\n{"uuid":"c"}'
    for mutation in MUTATIONS:
        changed = set()
        for seed in range(20):
            lines = [Line(line) for line in data.split(b"\n")]
            mutation(lines, Random(seed))
            changed.add(b"\n".join(line.data for line in lines))
        assert changed - {data}, mutation.__name__


def test_a_reseeded_copy_keeps_its_links() -> None:
    data = b'{"uuid":"11111111-1111-4111-8111-111111111111"} {"parentUuid":"11111111-1111-4111-8111-111111111111"}'
    first, second = reseeded(data, 1), reseeded(data, 2)
    assert first != second != data
    assert first.split(b'"')[3] == first.split(b'"')[7]
