"""Bits that flip in the vault: found by ``verify``, never served as if they were right, and no loss for other files."""

from __future__ import annotations

import base64
from pathlib import Path
from random import Random

import pytest
from command import User
from test_many_processes import grow

from fabula.kernel.clock import SystemClock
from fabula.kernel.errors import FabulaError
from fabula.record.vault.vault import Vault


@pytest.fixture
def user(tmp_path: Path) -> User:
    user = User.with_samples(tmp_path)
    grow(user, 30)
    assert user.run("record", "scan").status == 0
    return user


def flip(user: User, random: Random) -> None:
    pack = random.choice(sorted((user.record / "vault" / "packs").iterdir()))
    data = bytearray(pack.read_bytes())
    data[random.randrange(len(data) * 3 // 4)] ^= 1 << random.randrange(
        8
    )  # frames; the table at the end has its own test
    pack.chmod(0o600)
    pack.write_bytes(data)


def restored(user: User, path: Path, generations: dict[str, int]) -> bytes | str:
    """Return what the vault gives back of a file, or the code with which it refuses."""
    vault = Vault.open(user.record / "vault", SystemClock(), read_only=True)
    try:
        return b"".join(vault.stream(generations[str(path)]))
    except FabulaError as error:
        return error.code
    finally:
        vault.close()


@pytest.mark.parametrize("seed", range(4))
def test_a_flipped_bit_is_found_and_never_served(user: User, seed: int) -> None:
    import apsw

    originals = {path: path.read_bytes() for path in (user.home / ".claude" / "projects").rglob("*.jsonl")}
    connection = apsw.Connection(str(user.record / "map.db"))
    generations = dict(connection.execute("select path, vault_generation from files"))
    connection.close()
    assert user.run("record", "verify").data["sound"] is True
    flip(user, Random(seed))
    found = user.run("record", "verify")
    assert found.status == 1
    assert found.data["sound"] is False
    assert all(one["place"] for one in found.data["damages"])
    for path, data in originals.items():
        assert restored(user, path, generations) in {data, "ERR_VAULT_DAMAGED"}


def test_where_the_transcripts_are_still_there_reads_go_on(user: User) -> None:
    flip(user, Random(1))
    sessions = user.run("record", "sessions", "--all", "--limit", "300").data["sessions"]
    assert len(sessions) > 100
    for one in sessions[::40]:
        threads = user.run("record", "thread", one["id"])
        assert threads.status == 0
    block = user.run("record", "thread", sessions[0]["id"])
    assert block.status == 0


def test_blocks_of_a_damaged_vault_are_right_or_refused(user: User) -> None:
    originals = b"".join(path.read_bytes() for path in (user.home / ".claude" / "projects").rglob("*.jsonl"))
    for path in (user.home / ".claude" / "projects").rglob("*.jsonl"):
        path.unlink()
    flip(user, Random(2))
    sessions = user.run("record", "sessions", "--all", "--limit", "300", "--host", "claude").data["sessions"]
    for one in sessions[::30]:
        threads = user.run("record", "thread", one["id"]).data["threads"]
        asked = user.run("record", "thread", threads[0]["id"], "--raw")
        if asked.status:
            assert asked.code == "ERR_VAULT_DAMAGED"
            continue
        for record in asked.data["records"]:
            raw = base64.b64decode(record["data"]) if record["encoding"] == "base64" else record["data"].encode()
            assert raw in originals
