"""Bits that flip in the map: it is derived, so a clear error and a rebuild are all that is needed."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from answers import access_to, answers
from command import User


@pytest.fixture
def user(tmp_path: Path) -> User:
    user = User.with_samples(tmp_path)
    assert user.run("record", "scan").status == 0
    return user


def everything(user: User) -> dict[str, list[object]]:
    access = access_to(user.record, user.home)
    found = answers(access)
    access.close()
    return found


def damage(user: User, at: int, length: int = 1) -> None:
    data = bytearray((user.record / "map.db").read_bytes())
    for position in range(at, min(at + length, len(data))):
        data[position] ^= 0x5A
    for path in user.record.glob("map.db-*"):
        path.unlink()
    (user.record / "map.db").write_bytes(data)


def test_a_map_that_is_no_database_any_more_is_named_with_the_command_that_mends_it(user: User) -> None:
    before = everything(user)
    damage(user, 0, 16)
    refused = user.run("record", "sessions", "--all")
    assert (refused.status, refused.code) == (1, "ERR_DATABASE")
    assert "rebuild" in refused.out
    assert user.run("record", "rebuild").status == 0
    assert everything(user) == before


@pytest.mark.parametrize("seed", range(6))
def test_a_flipped_byte_never_ends_in_a_crash_and_a_rebuild_gives_the_same_answers(user: User, seed: int) -> None:
    before = everything(user)
    random = Random(seed)
    size = (user.record / "map.db").stat().st_size
    for _ in range(1 + seed * 3):
        damage(user, random.randrange(size), random.choice([1, 1, 64, 4096]))
    asked = user.run("record", "sessions", "--all")
    assert asked.status in {0, 1}
    if asked.status:
        assert asked.code == "ERR_DATABASE"
    assert user.run("record", "rebuild").status == 0
    assert everything(user) == before


def test_a_deleted_map_is_made_again_by_the_next_read(user: User) -> None:
    before = everything(user)
    for path in user.record.glob("map.db*"):
        path.unlink()
    assert user.run("record", "sessions", "--all").data["sessions"]
    assert everything(user) == before
