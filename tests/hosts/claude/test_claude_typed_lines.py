"""Typed lines are a quicker way to the same records: whatever a line holds, both ways read it alike."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.hosts.claude.lines import Line, line_decoder
from fabula.hosts.claude.normalise import TranscriptNormaliser
from fabula.kernel.records import Record, SourceFile
from fabula.record.containers.jsonl import parse_lines
from fabula.testing.mutations import mutated

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
HEAD = {"uuid": "u1", "parentUuid": "u0", "sessionId": "s1", "timestamp": "2026-03-01T10:00:00.000Z", "cwd": "/w"}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "a"}, {"type": "image"}]}
MADE: list[dict[str, Any]] = [
    {"type": "progress", "data": {"message": {"type": "user"}}, **HEAD},
    {"type": "progress", "message": {"content": "x"}, **HEAD, "uuid": ""},
    {"type": "user", "message": {"content": [RESULT]}, "toolUseResult": {"agentId": "a1"}, **HEAD},
    {"type": "user", "message": {"content": [RESULT]}, "toolUseResult": "Error: no", **HEAD, "isSidechain": True},
    {"type": "user", "message": {"content": [{"type": "image"}, {"type": "text", "text": "<ide_selection>b"}]}, **HEAD},
    {"type": "assistant", "message": {"content": [{"type": "redacted_thinking", "data": "x"}], "id": "m"}, **HEAD},
    {"type": "assistant", "message": {"content": [{"type": "text", "text": "no"}], "model": "<synthetic>"}, **HEAD},
]
LINES = [line for path in sorted(SAMPLES.rglob("*.jsonl")) for line in path.read_bytes().splitlines() if line]
LINES += [json.dumps(made).encode() for made in MADE] * 5
RARE = ["fabulaSlimmed", "fabulaSeam", "fabulaComposedFrom", "isMeta", "origin", "isCompactSummary", "forkedFrom"]
STRANGE: list[Any] = [None, True, False, 0, 7, 1.5, "", "words", "<private>x", [], ["a"], {}, {"type": "text"}, [[]]]
STRANGE += [[{"type": "text", "text": 3}], [{"type": "tool_result", "content": [{"type": "image"}, "b"]}], 1 << 80]


def read(
    data: bytes, *, typed: bool, kind: str = "session"
) -> tuple[list[Record | str], list[tuple[int, int, bool]], Any]:
    file = SourceFile("claude", f"/p/{kind}.jsonl", kind, "session-of-the-file", len(data), 0, 0, 0)
    normaliser = TranscriptNormaliser(file, None, "/p/session-of-the-file/tool-results")
    chunk, used = parse_lines(data, 100, last=True, typed=line_decoder() if typed else None)
    records = [
        normaliser.normalise(found.value, found.offset, found.length)
        for found in chunk.values
        if isinstance(found.value, dict | Line)
    ]
    spans = [(found.offset, found.length, found.recovered) for found in chunk.values]
    return records, spans, (normaliser.state, used, chunk.unreadable, chunk.data)


def is_read_alike(data: bytes) -> bool:
    return all(
        read(data, typed=True, kind=kind) == read(data, typed=False, kind=kind) for kind in ("session", "subagent")
    )


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """List the ways to every part of a value."""
    found = [path]
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        found += places(item, (*path, key))
    return found


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = put(value[path[0]], path[1:], new)
    return copy


def test_the_bundled_transcripts_are_read_alike_whole_and_mostly_typed() -> None:
    data = b"\n".join(LINES) + b"\n"
    assert is_read_alike(data)
    chunk, _ = parse_lines(data, 0, last=True, typed=line_decoder())
    assert sum(isinstance(found.value, Line) for found in chunk.values) > len(LINES) / 2


class Asked(dict[str, Any]):
    """A line that remembers which of its keys were asked for."""

    def __init__(self, value: dict[str, Any]) -> None:
        super().__init__(value)
        self.keys_asked: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        self.keys_asked.add(key)
        return super().get(key, default)

    def __getitem__(self, key: str) -> Any:
        self.keys_asked.add(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self.keys_asked.add(str(key))
        return super().__contains__(key)


def test_typed_lines_hold_every_key_that_is_read_of_their_types() -> None:
    known = {field.encode_name for field in msgspec.structs.fields(Line)}
    file = SourceFile("claude", "/p/a.jsonl", "session", "s", 1, 0, 0, 0)
    chunk, _ = parse_lines(b"\n".join(LINES) + b"\n", 0, last=True, typed=line_decoder())
    plain, _ = parse_lines(b"\n".join(LINES) + b"\n", 0, last=True)
    for found, value in zip(chunk.values, plain.values, strict=True):
        if isinstance(found.value, Line):
            line = Asked(value.value)
            TranscriptNormaliser(file, None, "").normalise(line, 0, 1)
            assert line.keys_asked <= known


@settings(deadline=None)
@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=4), st.randoms(use_true_random=False), st.data())
def test_lines_with_strange_values_in_any_place_are_read_alike(
    lines: list[bytes], random: Random, data: st.DataObject
) -> None:
    changed = []
    for line in lines:
        value = json.loads(line)
        if random.random() < 0.1:
            value[random.choice(RARE)] = random.choice(["u", {"session": "s"}, True])
        for _ in range(random.randint(0, 2)):
            value = put(value, random.choice(places(value)), data.draw(st.sampled_from(STRANGE)))
        changed.append(json.dumps(value, ensure_ascii=random.random() < 0.5).encode())
    assert is_read_alike(b"\n".join(changed) + b"\n")


@settings(deadline=None)
@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_damaged_lines_are_read_alike(lines: list[bytes], random: Random) -> None:
    assert is_read_alike(mutated(b"\n".join(lines), random)[0])
