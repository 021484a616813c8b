"""New identifiers: alike for one seed, unlike for two, and of the form that agents expect."""

from __future__ import annotations

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from fabula.record.composing.ids import FreshIds

NAMES = st.lists(st.one_of(st.integers(0, 9), st.text(max_size=4)), min_size=1, max_size=3).map(tuple)


@given(st.binary(min_size=16, max_size=16), NAMES, NAMES)
def test_one_name_gives_one_uuid_and_two_names_two(seed: bytes, one: tuple[str, ...], two: tuple[str, ...]) -> None:
    ids = FreshIds(seed)
    assert ids.uuid(*one) == FreshIds(seed).uuid(*one)
    assert (ids.uuid(*one) == ids.uuid(*two)) == (tuple(map(str, one)) == tuple(map(str, two)))


@given(st.binary(min_size=16, max_size=16))
def test_uuids_are_of_version_four(seed: bytes) -> None:
    made = UUID(FreshIds(seed).uuid("x"))
    assert made.version == 4
    assert made.variant == "specified in RFC 4122"
    assert FreshIds(seed).uuid("x") != FreshIds(seed + b"!").uuid("x")
