"""A record is found by the digest of its bytes alone, packed or loose, and served only when it matches."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from vault_builders import TickingClock, open_vault, seal, transcript

from fabula.kernel.errors import FabulaError
from fabula.record.vault.by_digest import forgotten_at, record_by_digest
from fabula.record.vault.keepsakes import Keepsakes

pytestmark = pytest.mark.usefixtures("small_packs")


def test_every_record_is_found_packed_or_loose(tmp_path: Path) -> None:
    data = transcript(150, seed=5)
    with open_vault(tmp_path / "vault") as vault:
        seal(vault, "/a", data)
        lines = data.splitlines()
        assert vault.journal.rows("select count(*) from blobs")[0][0] > 50
        assert vault.journal.rows("select count(*) from loose")[0][0] > 0
        assert [record_by_digest(vault, sha256(line).digest()) for line in lines] == lines
        assert record_by_digest(vault, bytes(32)) is None


def test_a_damaged_record_is_never_served(tmp_path: Path) -> None:
    data = transcript(150, seed=6)
    with open_vault(tmp_path / "vault") as vault:
        seal(vault, "/a", data)
        for pack in (tmp_path / "vault" / "packs").glob("records-*"):
            damaged = bytearray(pack.read_bytes())
            for at in range(200, len(damaged), 97):
                damaged[at] ^= 0xFF
            pack.write_bytes(damaged)
        refused = 0
        for line in data.splitlines():
            try:
                assert record_by_digest(vault, sha256(line).digest()) == line
            except FabulaError as error:
                assert error.code == "ERR_VAULT_DAMAGED"
                refused += 1
        assert refused > 50


def test_a_tombstone_says_when_by_id_or_by_bytes_the_first_time_counts(tmp_path: Path) -> None:
    with open_vault(tmp_path / "vault") as vault:
        seal(vault, "/a", transcript(3))
        assert forgotten_at(vault, "u1", bytes(32)) is None
        Keepsakes(vault.journal, TickingClock(4999)).bury("uid", b"u1")
        Keepsakes(vault.journal, TickingClock(8999)).bury("bytes", b"d" * 32)
        assert forgotten_at(vault, "u1", bytes(32)) == 5000
        assert forgotten_at(vault, "other", b"d" * 32) == 9000
        assert forgotten_at(vault, "u1", b"d" * 32) == 5000
        assert forgotten_at(vault, "other", bytes(32)) is None
