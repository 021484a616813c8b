"""A corpus where the settings look for it, and standard input that a test fills."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from fabula.kernel.clock import SystemClock
from fabula.memory.store.scaffold import init_corpus

Typed = Callable[[str], None]


@pytest.fixture
def corpus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Make an empty memory where a call of ``fabula`` finds it."""
    monkeypatch.delenv("FABULA_MEMORY", raising=False)
    root = tmp_path / "fabula-home" / "memory"
    root.parent.mkdir(exist_ok=True)
    init_corpus(root, dict(os.environ), SystemClock())
    return root


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Typed:
    """Return what makes a text the standard input of the next call."""

    def fill(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(text.encode()), encoding="utf-8"))

    return fill
