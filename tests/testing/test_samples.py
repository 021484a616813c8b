"""The bundled samples are what their generator writes, and hold what their description promises."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from fabula.testing.transcripts import ClaudeSession, stable_uuid

REPOSITORY = Path(__file__).resolve().parents[2]
SAMPLES = REPOSITORY / "tests" / "data" / "samples"


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_generator_writes_the_committed_samples_byte_for_byte(tmp_path: Path) -> None:
    script = REPOSITORY / "benchmarks" / "make_samples.py"
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "src"), "PYTHONHASHSEED": "1", "LC_ALL": "C"}
    subprocess.run([sys.executable, str(script), str(tmp_path)], check=True, capture_output=True, env=environment)
    committed = everything(SAMPLES)
    committed.pop("README.md")
    assert everything(tmp_path) == committed


def test_samples_stay_small() -> None:
    assert sum(map(len, everything(SAMPLES).values())) < 400_000


def test_expected_counts_are_those_of_the_reference_reading() -> None:
    expected = json.loads((SAMPLES / "expected.json").read_text(encoding="utf-8"))
    for name, count in expected["objects"].items():
        lines = (SAMPLES / "home" / name).read_bytes().splitlines()
        assert [type(json.loads(line)) for line in lines] == [dict] * count


def test_parallel_calls_hang_their_results_off_their_own_record() -> None:
    session = ClaudeSession("parallel")
    session.prompt("Look at both.")
    calls = session.calls(("Read", {"file_path": "a"}), ("Read", {"file_path": "b"}))
    for call in calls:
        session.result(call, "text")
    results = [record for record in session.records if "sourceToolAssistantUUID" in record]
    assert [record["parentUuid"] for record in results] == [call.record for call in calls]


def test_a_fork_repeats_uuids_under_its_own_session() -> None:
    session = ClaudeSession("origin")
    session.prompt("One.")
    fork = session.fork("copy")
    assert [record["uuid"] for record in fork.records] == [record["uuid"] for record in session.records]
    assert {record["sessionId"] for record in fork.records} == {fork.id} != {session.id}


def test_stable_ids_depend_on_their_parts_alone() -> None:
    assert stable_uuid("a", 1) == stable_uuid("a", 1) != stable_uuid("a", 2)
