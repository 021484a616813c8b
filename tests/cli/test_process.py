"""The process of a command: the same answers as the function, and the same statuses."""

from __future__ import annotations

import gc
import json
import subprocess
import sys

import pytest

from fabula import __main__ as process
from fabula.kernel.errors import Exit


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "fabula", *words], capture_output=True, text=True, check=False)


def test_a_process_says_what_it_was_asked_and_how_it_ended() -> None:
    done = run("manifest", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["apiVersion"] == "1"
    wrong = run("nonsense")
    assert wrong.returncode == 2
    assert "nonsense" in wrong.stderr


def test_the_collector_rests_and_is_not_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    before = gc.get_threshold()
    monkeypatch.setattr(sys, "argv", ["fabula", "version", "--json"])
    try:
        assert process.run() == 0
        assert gc.isenabled(), "a command that runs long must not grow without end"
        assert gc.get_threshold()[0] == process.COLLECTED_FROM
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


def test_an_interruption_while_the_program_loads_leaves_no_traceback() -> None:
    code = """
import sys
from fabula.__main__ import run

class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == "fabula.cli.main":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupts())
sys.exit(run())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (Exit.INTERRUPTED, "", "fabula: interrupted\n")
