"""A record of its own for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.testing.record_home import RecordHome


@pytest.fixture
def record_home(tmp_path: Path) -> RecordHome:
    """Return an empty record in a temporary folder."""
    return RecordHome(tmp_path / "home")
