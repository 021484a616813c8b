"""The small values that everything shares."""

from __future__ import annotations

import hashlib
import json
import uuid
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.kernel.canonical import canonical_json
from fabula.kernel.clock import SystemClock, format_time, parse_time
from fabula.kernel.envelope import failure, success
from fabula.kernel.errors import CODES, Exit, FabulaError
from fabula.kernel.hashes import digest, digest_text
from fabula.kernel.ids import derived_id, pack_id, unpack_id
from fabula.kernel.paths import fabula_home
from fabula.kernel.records import KINDS, Accounting
from fabula.kernel.text import storable
from fabula.kernel.tokens import budget_characters, estimate_tokens

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda v: st.lists(v) | st.dictionaries(st.text(), v)
)


def test_an_error_knows_its_exit_status_and_its_remedies() -> None:
    error = FabulaError("ERR_USAGE", "no", "fabula help")
    assert (error.exit, str(error), error.suggestions) == (Exit.WRONG_CALL, "no", ("fabula help",))
    assert all(code.startswith("ERR_") and meaning.endswith(".") for code, (meaning, _) in CODES.items())


def test_the_envelope_has_two_shapes() -> None:
    assert success("t", {"a": 1}) == {"apiVersion": "1", "type": "t", "data": {"a": 1}}
    assert failure(FabulaError("ERR_PATH", "gone", "ls")) == {
        "apiVersion": "1",
        "error": "gone",
        "code": "ERR_PATH",
        "suggestions": ["ls"],
    }


@given(JSON)
def test_canonical_json_reads_back_and_is_the_same_for_equal_values(value: object) -> None:
    data = canonical_json(value)
    assert json.loads(data) == value
    assert canonical_json(json.loads(data)) == data
    assert b"\n" not in data


def test_canonical_json_sorts_keys_and_escapes_lone_surrogates() -> None:
    assert canonical_json({"b": 1, "a": "ä"}) == '{"a":"ä","b":1}'.encode()
    assert canonical_json("\ud800") == b'"\\ud800"'


@given(st.uuids())
def test_a_uuid_is_packed_into_sixteen_bytes(value: uuid.UUID) -> None:
    assert pack_id(str(value)) == value.bytes
    assert unpack_id(value.bytes) == str(value)


@given(st.text(max_size=40))
def test_any_id_comes_back_as_it_was(value: str) -> None:
    assert unpack_id(pack_id(value)) == value


@pytest.mark.parametrize(
    "text", ["A" * 8 + "-0000-4000-8000-000000000000", "0" * 36, "x" * 8 + "-0000-4000-8000-" + "0" * 12]
)
def test_what_is_no_canonical_uuid_stays_text(text: str) -> None:
    assert unpack_id(pack_id(text)) == text


def test_derived_ids_are_stable_and_framed() -> None:
    assert derived_id("a", 1, b"x") == derived_id("a", 1, b"x")
    assert derived_id("ab", "c") != derived_id("a", "bc")
    assert derived_id("\ud800").startswith("fab-")


def test_digests_are_sha256() -> None:
    assert digest(b"x") == hashlib.sha256(b"x").digest()
    assert digest_text(digest(b"x")) == "sha256:" + hashlib.sha256(b"x").hexdigest()


@pytest.mark.parametrize(
    ("value", "millis"),
    [
        ("2026-02-25T06:13:20.000Z", 1_772_000_000_000),
        ("2026-02-25T06:13:20", 1_772_000_000_000),
        ("2026-02-25T07:13:20+01:00", 1_772_000_000_000),
        (1_772_000_000, 1_772_000_000_000),
        (1_772_000_000_000, 1_772_000_000_000),
        (1_772_000_000.5, 1_772_000_000_500),
        ("never", None),
        (-1, None),
        (10**400, None),
        (float("nan"), None),
        (float("inf"), None),
        (True, None),
        (None, None),
        ([], None),
    ],
)
def test_times_are_read_from_texts_and_numbers(value: object, millis: int | None) -> None:
    assert parse_time(value) == millis


def test_a_time_is_written_with_milliseconds_in_utc() -> None:
    assert format_time(1_772_000_000_007) == "2026-02-25T06:13:20.007Z"
    assert format_time(None) == ""


@given(st.integers(0, 253_402_300_799_999))
def test_a_written_time_reads_back(millis: int) -> None:
    assert parse_time(format_time(millis)) == millis


def test_the_system_clock_counts_milliseconds() -> None:
    assert SystemClock().now_ms() > 1_700_000_000_000


def test_the_home_is_named_by_the_environment_alone() -> None:
    user = Path("/users/ada")
    assert fabula_home({}, user).root == user / ".fabula"
    assert fabula_home({"FABULA_HOME": "~/f"}, user).root == user / "f"
    home = fabula_home({"FABULA_HOME": "/f"}, user)
    assert [home.config, home.vault, home.map, home.lock] == [
        Path("/f/config.toml"),
        Path("/f/vault"),
        Path("/f/map.db"),
        Path("/f/writer.lock"),
    ]


@given(st.text())
def test_any_text_becomes_storable(text: str) -> None:
    stored = storable(text)
    stored.encode()
    assert "\0" not in stored


def test_surrogates_and_nul_are_replaced() -> None:
    assert storable("a\ud800b\0c") == "a\ufffd\ufffd\ufffdb c" or storable("a\ud800b\0c") == "a\ufffdb c"
    assert storable("plain") == "plain"


def test_tokens_are_four_characters() -> None:
    assert [estimate_tokens(n) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]
    assert budget_characters(10) == 40


def test_skipped_objects_are_counted_by_kind() -> None:
    account = Accounting()
    account.skip("meta")
    account.skip("meta")
    assert (account.objects, account.indexed, account.skipped) == (2, 0, {"meta": 2})
    assert len(set(KINDS)) == len(KINDS)
