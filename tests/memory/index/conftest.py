"""Corpora that are closed when a test ends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from indexed import Shelf


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Shelf]:
    """A corpus without a commit."""
    shelf = Shelf(tmp_path)
    yield shelf
    shelf.repo.close()
