"""Loaded records without a disk, for tests of what reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fabula.kernel.records import Block, Record, Usage
from fabula.record.map.schema import SIDECHAIN
from fabula.record.reading.turns import ThreadView, view_thread

T0 = 1_767_225_600_000  # 2026-01-01T00:00:00Z


@dataclass
class FakeRow:
    uid: str
    kind: str
    parent: str = ""
    source: str = ""
    session_id: int = 1
    time: int | None = T0
    flags: int = 0


@dataclass
class FakeLoaded:
    row: FakeRow
    record: Record
    origin: str = "live"
    raw: bytes = b""


def loaded(uid: str, kind: str, *blocks: Block, parent: str = "", source: str = "", **more: Any) -> FakeLoaded:
    session = more.pop("session", "session-1")
    sidechain = more.pop("sidechain", False)
    response = more.pop("response", "")
    row = FakeRow(
        uid, kind, parent, source, session_id=more.pop("session_id", 1), flags=SIDECHAIN if sidechain else 0,
        time=more.pop("time", T0),
    )  # fmt: skip
    record = Record(
        uid, session, kind, "", 0, 0, blocks=list(blocks), sidechain=sidechain,
        usage=Usage(response, "m") if response else None, **more,
    )  # fmt: skip
    return FakeLoaded(row, record, raw=b'{"uuid":"%s"}' % uid.encode())


def text(words: str) -> Block:
    return Block("text", words)


def call(tool: str, tool_id: str = "t1", **arguments: Any) -> Block:
    return Block("call", tool=tool, tool_id=tool_id, input=arguments)


def result(words: str, *, images: int = 0, failed: bool = False, tool_id: str = "t1") -> Block:
    return Block("result", words, tool_id=tool_id, images=images, failed=failed)


@dataclass
class Corpus:
    """The thread that most tests read: prompt, call, long result with a picture, answer, retry, subagent."""

    records: list[FakeLoaded] = field(
        default_factory=lambda: [
            loaded("a", "prompt", text("Why does the zigzag pivot fail?")),
            loaded("b", "call", Block("thought", "look first"), call("Bash", command="pytest -q zigzag"), parent="a"),
            loaded("x", "reply", text("an attempt that was given up"), parent="b"),
            loaded("c", "result", result("trace line\n" * 400, images=1), parent="b", source="b"),
            loaded("s", "task", text("explore the pivots"), source="b", sidechain=True, session="agent-7",
                   session_id=2, spawned_by="t1"),
            loaded("d", "reply", text("The pivot is off by one."), parent="c"),
        ]
    )  # fmt: skip

    def view(self, redact: Any = lambda words: words) -> ThreadView:
        return view_thread("p1", "session-1", self.records, redact=redact)  # type: ignore[arg-type]
