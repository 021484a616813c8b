"""Random lives of a vault; ``vault_lives.py`` lives many more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent / "vault_lives.py"


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="needs fork")
def test_whatever_is_done_to_a_vault_in_whatever_order_it_holds_what_it_should_and_nothing_else() -> None:
    command = [sys.executable, str(SCRIPT), "--count", "3", "--calm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
