"""Outlines: values too large or too deep to decode keep their structure, in bounded memory."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.record.containers import json_scan
from fabula.record.containers.json_scan import make_valid, outline

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON, st.booleans())
def test_an_outline_of_a_small_value_is_the_value(value: Any, ascii_only: bool) -> None:
    data = b" " + json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass") + b" x"
    found, behind = outline(data, 1, len(data))
    assert (found, behind) == ("" if isinstance(value, str) else make_valid(value), len(data) - 2)


def test_long_strings_and_deep_containers_are_elided() -> None:
    deep = "[" * 200 + '"{"' + "]" * 200
    data = ('{"keep":"\\"{","long":"' + "x" * 70_000 + '","deep":' + deep + ',"end":[1,{}]}').encode()
    value, behind = outline(data, 0, len(data))
    assert behind == len(data)
    assert (value["keep"], value["long"], value["end"]) == ('"{', "", [1, {}])
    depth, inner = 0, value["deep"]
    while inner:
        depth, inner = depth + 1, inner[0]
    assert (depth, inner) == (127, None)


def test_what_is_still_too_long_is_elided_harder_and_at_last_known_by_its_span_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(json_scan, "_OUTLINE_LIMIT", 2_000)
    data = json.dumps({"uuid": "u", "texts": ["y" * 300] * 20}).encode()
    assert outline(data, 0, len(data)) == ({"uuid": "u", "texts": [""] * 20}, len(data))
    data = json.dumps({"uuid": "u", "numbers": list(range(5_000))}).encode()
    assert outline(data, 0, len(data)) == ({}, len(data))
    data = json.dumps(list(range(5_000))).encode()
    assert outline(data, 0, len(data)) == ([], len(data))


@pytest.mark.parametrize(
    "data", [b'{"a":1', b'{"a":"x', b'{"a" 1}', b"[1}", b'"abc', b"x", b'{"a":"\x01"}', b'["\\x"]']
)
def test_what_is_no_value_has_no_outline(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        outline(data, 0, len(data))


def test_a_line_too_long_to_decode_is_read_around_its_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_scan, "WHOLE_LIMIT", 10)
    data = b'x {"a":1} 7 "str" nul {"b":[2]}  '
    scan = json_scan.scan_values(data, 0, len(data), 100)
    assert [(found.offset, found.value, found.recovered) for found in scan.values] == [
        (102, {"a": 1}, True), (110, 7, True), (112, "", True), (122, {"b": [2]}, True),
    ]  # fmt: skip
    assert scan.unreadable == len("x") + len("nul")


def test_lone_surrogates_are_replaced_at_any_depth_and_in_keys() -> None:
    value: Any = {"\ud800k": ["a\udcff", {"b": "ok"}]}
    for _ in range(5_000):
        value = [value]
    value = make_valid(value)
    while isinstance(value, list):
        value = value[0]
    assert value == {"�k": ["a�", {"b": "ok"}]}
    assert make_valid("\udcff") == "�"
