"""Builders of small Claude Code transcripts for tests and samples: real shapes, invented content, stable bytes.

    session = ClaudeSession("demo", cwd="/home/mira/code/harbor")
    session.prompt("Why is the limiter slow?")
    session.tool("Bash", {"command": "pytest -q"}, "1 failed", failed=True)
    session.reply("The clock is read twice.")
    path.write_bytes(session.data())

Other agents' shapes are in :mod:`fabula.testing.rollouts`.
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

#: A PNG of one pixel.
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
EPOCH = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def stable_uuid(*parts: str | int) -> str:
    """Return a version-4-shaped UUID that depends on ``parts`` alone."""
    digits = sha256("\x1f".join(map(str, parts)).encode()).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:32]}"


def json_line(value: Mapping[str, Any]) -> bytes:
    """Return ``value`` as one line of a transcript, in the compact form that the clients write."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def project_folder(cwd: str) -> str:
    """Return the name of the folder in which Claude Code keeps the sessions of ``cwd``."""
    return re.sub(r"[^A-Za-z0-9]", "-", cwd)


@dataclass(slots=True)
class Ticker:
    """A clock that moves by a fixed step with every reading."""

    now: datetime = EPOCH
    step: timedelta = timedelta(seconds=3)

    def stamp(self) -> str:
        """Advance and return the time as the clients write it."""
        self.now += self.step
        return f"{self.now:%Y-%m-%dT%H:%M:%S}.{self.now.microsecond // 1000:03d}Z"

    def pause(self, **delta: float) -> None:
        """Let time pass (arguments of ``timedelta``)."""
        self.now += timedelta(**delta)


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that was written: its tool id and the record that holds it."""

    tool_id: str
    record: str


@dataclass(slots=True)
class ClaudeSession:
    """A Claude Code transcript under construction. ``seed`` decides every id; ``agent`` makes it a subagent's."""

    seed: str
    cwd: str = "/home/mira/code/harbor"
    clock: Ticker = field(default_factory=Ticker)
    branch: str = "main"
    version: str = "2.1.197"
    model: str = "claude-sonnet-4-6"
    agent: str = ""
    parent_session: str = ""
    records: list[dict[str, Any]] = field(default_factory=list)
    leaf: str | None = None
    prompt_id: str = ""
    made: int = 0

    @property
    def id(self) -> str:
        """The session id; for a subagent its parent's, as the client writes it."""
        return self.parent_session or stable_uuid("session", self.seed)

    def relative_path(self) -> str:
        """Return where the file lies below the Claude configuration folder."""
        folder = f"projects/{project_folder(self.cwd)}"
        return f"{folder}/{self.id}/subagents/agent-{self.agent}.jsonl" if self.agent else f"{folder}/{self.id}.jsonl"

    def data(self) -> bytes:
        """Return the transcript's bytes."""
        return b"".join(map(json_line, self.records))

    def save(self, config: Path) -> Path:
        """Write the transcript below the Claude configuration folder ``config`` and return its path."""
        path = config / self.relative_path()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.data())
        return path

    # ── one record each ─────────────────────────────────────────────
    def prompt(self, text: str, *, image: bool = False) -> str:
        """Add what a person typed; it begins a thread. Returns the record's uuid."""
        self.prompt_id = self._uuid("prompt")
        picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
        content = [{"type": "text", "text": text}, picture] if image else text
        return self._node("user", {"promptId": self.prompt_id, "message": {"role": "user", "content": content}})

    def task(self, text: str) -> str:
        """Add the first record of a subagent's file: the task that its parent gave. Returns the record's uuid."""
        return self._node("user", {"message": {"role": "user", "content": text}})

    def say(self, *blocks: dict[str, Any]) -> list[str]:
        """Add one API response: a record for each block, all with the response's id and usage. Returns their uuids."""
        response = self._hex("response", 24)
        usage = {"input_tokens": 12, "cache_creation_input_tokens": 640, "cache_read_input_tokens": 18_000}
        message = {"model": self.model, "id": f"msg_01{response}", "type": "message", "role": "assistant"}
        added = []
        for block in blocks:
            stop = "tool_use" if block["type"] == "tool_use" else None
            body = {**message, "content": [block], "stop_reason": stop, "usage": {**usage, "output_tokens": 220}}
            added.append(self._node("assistant", {"message": body, "requestId": f"req_011{response[:20]}"}))
        return added

    def reply(self, text: str, *, thought: str = "") -> str:
        """Add what the assistant said, after a signed thought if there is one. Returns the uuid of the text."""
        blocks: list[dict[str, Any]] = [{"type": "text", "text": text}]
        if thought:
            blocks.insert(0, {"type": "thinking", "thinking": thought, "signature": self._hex("signature", 60)})
        return self.say(*blocks)[-1]

    def calls(self, *calls: tuple[str, Mapping[str, Any]]) -> list[Call]:
        """Add tool calls made in parallel, in one response."""
        blocks: list[dict[str, Any]] = [
            {"type": "tool_use", "id": f"toolu_01{self._hex('tool', 22)}", "name": name, "input": dict(arguments)}
            for name, arguments in calls
        ]
        return [Call(block["id"], uuid) for block, uuid in zip(blocks, self.say(*blocks), strict=True)]

    def result(self, call: Call, text: str, *, failed: bool = False, detail: Any = None) -> str:
        """Add the answer to ``call``; it hangs off the record that holds the call. Returns the record's uuid."""
        block: dict[str, Any] = {"tool_use_id": call.tool_id, "type": "tool_result", "content": text}
        if failed:
            block["is_error"] = True
        message = {"role": "user", "content": [block]}
        fields: dict[str, Any] = {"message": message, "sourceToolAssistantUUID": call.record}
        if detail is not None:
            fields["toolUseResult"] = detail
        if self.prompt_id:
            fields["promptId"] = self.prompt_id
        self.leaf = call.record
        return self._node("user", fields)

    def tool(
        self, name: str, arguments: Mapping[str, Any], text: str, *, failed: bool = False, detail: Any = None
    ) -> str:
        """Add one call and its result. Returns the uuid of the result."""
        return self.result(self.calls((name, arguments))[0], text, failed=failed, detail=detail)

    def compact(self, summary: str, *, kept: Sequence[str] = ()) -> str:
        """Add a compaction: the boundary and the summary after it. Returns the summary's uuid."""
        before = self.leaf
        self.leaf = None
        metadata = {"trigger": "auto", "preTokens": 161_000, "preservedMessages": {"uuids": [*kept]}}
        fields = {"logicalParentUuid": before, "subtype": "compact_boundary", "content": "Conversation compacted"}
        self._node("system", {**fields, "level": "info", "isMeta": False, "compactMetadata": metadata})
        said = {"role": "user", "content": "This session is being continued from a previous conversation. " + summary}
        return self._node("user", {
            "promptId": self.prompt_id, "isCompactSummary": True, "isVisibleInTranscriptOnly": True, "message": said,
        })  # fmt: skip

    def title(self, text: str, *, custom: bool = False) -> None:
        """Add a title record: the client's own, or one that a person gave."""
        kind, key = ("custom-title", "customTitle") if custom else ("ai-title", "aiTitle")
        self.records.append({"type": kind, key: text, "sessionId": self.id})

    def snapshot(self, message: str, backups: Mapping[str, str]) -> None:
        """Add a file-history snapshot: path → name of the backup file."""
        stamp = self.clock.stamp()
        tracked = {path: {"backupFileName": name, "version": 1, "backupTime": stamp} for path, name in backups.items()}
        snapshot = {"messageId": message, "trackedFileBackups": tracked, "timestamp": stamp}
        fields = {"messageId": message, "snapshot": snapshot, "isSnapshotUpdate": False}
        self.records.append({"type": "file-history-snapshot", **fields})

    def other(self, kind: str, **fields: Any) -> None:
        """Add a record without a uuid: ``last-prompt``, ``mode``, ``queue-operation``, or one of the future."""
        self.records.append({"type": kind, **fields, "sessionId": self.id})

    def system(self, subtype: str, **fields: Any) -> str:
        """Add a system record. Returns its uuid."""
        return self._node("system", {"subtype": subtype, "isMeta": False, **fields})

    @contextmanager
    def abandoned(self) -> Iterator[None]:
        """Add what follows as a branch that the person then rewinds: the next record is its sibling."""
        leaf, prompt_id = self.leaf, self.prompt_id
        yield
        self.leaf, self.prompt_id = leaf, prompt_id

    def fork(self, seed: str) -> ClaudeSession:
        """Return a session that begins with copies of this one's records, as ``--fork-session`` writes them."""
        clock = Ticker(self.clock.now, self.clock.step)
        other = ClaudeSession(seed, self.cwd, clock, self.branch, self.version, self.model)
        for record in self.records:
            copy = dict(record)
            if "uuid" in record:
                copy["forkedFrom"] = {"sessionId": self.id, "messageUuid": record["uuid"]}
            other.records.append({**copy, "sessionId": other.id} if "sessionId" in record else copy)
        other.leaf, other.prompt_id = self.leaf, self.prompt_id
        return other

    # ── inside ──────────────────────────────────────────────────────
    def _uuid(self, kind: str) -> str:
        self.made += 1
        return stable_uuid(kind, self.seed, self.agent, self.made)

    def _hex(self, kind: str, length: int) -> str:
        self.made += 1
        return sha256(f"{kind}/{self.seed}/{self.agent}/{self.made}".encode()).hexdigest()[:length]

    def _node(self, kind: str, fields: Mapping[str, Any]) -> str:
        uuid = self._uuid("record")
        head: dict[str, Any] = {
            "parentUuid": self.leaf, "isSidechain": bool(self.agent), "userType": "external", "cwd": self.cwd,
            "sessionId": self.id, "version": self.version, "gitBranch": self.branch, "type": kind,
        }  # fmt: skip
        if self.agent:
            head["agentId"] = self.agent
        self.records.append({**head, **fields, "uuid": uuid, "timestamp": self.clock.stamp()})
        self.leaf = uuid
        return uuid
