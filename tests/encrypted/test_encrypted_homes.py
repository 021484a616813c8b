"""What is proved of a record holds of an encrypted one: some of the suite, run again with every vault encrypted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("nacl")

TESTS = Path(__file__).resolve().parents[1]
#: Files of tests, and what of them starts processes or looks into files with its own hands.
AGAIN = {
    "app/test_reading_threads.py": "",
    "app/test_prune_verb.py": "person_at_a_terminal",
    "app/test_vault_copy_verb.py": "interrupted",
    "record/forgetting/test_forgotten_for_good.py": "",
    "record/vault/test_vault_round_trip.py": "",
    "record/vault/test_erasing.py": "stray",  # a pack under another name does not open
}


@pytest.mark.parametrize("name", AGAIN)
def test_it_holds_of_an_encrypted_record(name: str) -> None:
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "pytest", "-n", "0", "-p", "every_vault_encrypted", str(TESTS / name)]
    if AGAIN[name]:
        command += ["-k", f"not {AGAIN[name]}"]
    done = subprocess.run(
        command, cwd=TESTS.parent, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:]
