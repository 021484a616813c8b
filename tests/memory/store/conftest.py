"""A corpus for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from storecorpus import Corpus


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    made = Corpus(tmp_path)
    yield made
    made.repo.close()
