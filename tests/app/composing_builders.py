"""Sessions to compose from, and readers of what was composed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fabula.app.record.compose import ComposeRequest, ComposeResult, compose
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession


def work() -> ClaudeSession:
    """Two threads: parallel calls with a thought, a subagent's call, an edit; then a failing command."""
    work = ClaudeSession("work")
    work.title("Pivot work")
    work.prompt("Why does the pivot fail?")
    work.reply("Looking at it.", thought="It may be off by one.")
    calls = work.calls(("Bash", {"command": "pytest -q a"}), ("Bash", {"command": "pytest -q b"}))
    for call in reversed(calls):
        work.result(call, f"passed {call.tool_id}")
    with work.abandoned():
        work.reply("an attempt that was given up")
    work.tool("Edit", {"file_path": "/p/pivot.py", "old_string": "1", "new_string": "2"}, "done")
    work.reply("The pivot was off by one.")
    work.prompt("And the option chain?")
    work.tool("Bash", {"command": "pytest chain"}, "E   ValueError: chain is broken", failed=True)
    work.reply("It is broken.")
    return work


def threads(session: ClaudeSession) -> list[str]:
    return list(dict.fromkeys(record["promptId"] for record in session.records if record.get("promptId")))


def composed(home: RecordHome, *names: str, **more: Any) -> ComposeResult:
    return compose(home.app, ComposeRequest(names, **more))


def lines(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_bytes().splitlines()]


def blocks(records: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for record in records:
        content = record.get("message", {}).get("content")
        yield from content if isinstance(content, list) else ()


def chain(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Follow the parents from the last record up, as the client does."""
    by_uuid = {record["uuid"]: record for record in records if "uuid" in record}
    leaf = [record for record in records if "uuid" in record][-1]
    path = [leaf]
    while path[-1]["parentUuid"] is not None:
        path.append(by_uuid[path[-1]["parentUuid"]])
    return path[::-1]
