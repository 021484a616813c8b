"""Small frames and packs, so that small tests meet every boundary."""

from __future__ import annotations

import pytest

from fabula.record.vault import filling


@pytest.fixture
def small_packs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filling, "FRAME_CONTENT", 4096)
    monkeypatch.setattr(filling, "PACK_LIMIT", 16384)
