"""A copy of the vault, an undone rewriting: what else holds bytes of the record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from forgetting_builders import WORDS, Planted, needles

from fabula.app.vault.copy import CopyRequest, copy
from fabula.app.vault.gc import GcRequest, gc
from fabula.record.vault.vault import Vault
from fabula.testing.prober import found_in

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def planted(tmp_path: Path) -> Planted:
    """A record with a session that goes and one that stays."""
    return Planted(tmp_path)


def test_the_next_copy_erases_it_from_an_earlier_one(planted: Planted, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    copy(planted.home.app, CopyRequest(backup))
    assert found_in(backup, WORDS)
    planted.forget(planted.doomed.id)
    copy(planted.home.app, CopyRequest(backup))
    assert found_in(backup, needles()) == []
    with Vault.open(backup / "vault", planted.home.clock, read_only=True) as vault:
        assert list(vault.verify()) == []
        assert vault.journal.rows("select count(*) from tombstones")[0][0] > 0


def test_after_a_forgetting_there_is_nothing_to_collect(planted: Planted) -> None:
    planted.forget(planted.doomed.id)
    result = gc(planted.home.app, GcRequest())
    assert (result.dead, result.packs, result.unnamed, result.strays) == (0, 0, 0, [])
