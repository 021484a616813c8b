"""A builder of Pi's session files (version 3): a head, then entries that form a tree by ``id`` and ``parentId``."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_BEGIN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
_COST = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}


class PiSession:
    """Entries are added below ``leaf``; setting it to an earlier entry's id begins a branch."""

    def __init__(self, seed: str, *, cwd: str = "/home/mira/code/harbor", parent: str = "") -> None:
        digits = sha256(f"pi {seed}".encode()).hexdigest()
        self.id = f"{digits[:8]}-{digits[8:12]}-7{digits[13:16]}-8{digits[17:20]}-{digits[20:32]}"
        self.cwd = cwd
        self.leaf: str | None = None
        self.clock = _BEGIN
        head: dict[str, Any] = {"type": "session", "version": 3, "id": self.id, "timestamp": self._stamp(), "cwd": cwd}
        self.lines: list[dict[str, Any]] = [{**head, "parentSession": parent} if parent else head]

    # ── entries ──────────────────────────────────────────────────────

    def entry(self, kind: str, /, **fields: Any) -> str:
        """Add an entry below the leaf, which it becomes. Returns its id."""
        identity = sha256(f"{self.id} {len(self.lines)}".encode()).hexdigest()[:8]
        place = {"type": kind, "id": identity, "parentId": self.leaf, "timestamp": self._stamp()}
        self.lines.append({**place, **fields})
        self.leaf = identity
        return identity

    def message(self, role: str, content: Any, **fields: Any) -> str:
        """Add a message."""
        when = int(self.clock.timestamp() * 1000)
        return self.entry("message", message={"role": role, "content": content, **fields, "timestamp": when})

    def prompt(self, text: str) -> str:
        """Add what a person typed."""
        return self.message("user", [{"type": "text", "text": text}])

    def answer(self, *parts: dict[str, Any], model: str = "claude-sonnet-5", **fields: Any) -> str:
        """Add an assistant's message of content blocks."""
        usage = {"input": 100, "output": 20, "cacheRead": 7, "cacheWrite": 3, "totalTokens": 130, "cost": _COST}
        stop = "toolUse" if any(part["type"] == "toolCall" for part in parts) else "stop"
        made = {"api": "anthropic-messages", "provider": "anthropic", "model": model, "usage": usage}
        return self.message("assistant", list(parts), **{**made, "stopReason": stop, **fields})

    def reply(self, text: str) -> str:
        """Add an answer in words."""
        return self.answer({"type": "text", "text": text})

    def call(self, tool: str, tool_id: str, **arguments: Any) -> str:
        """Add an answer that is one call."""
        return self.answer({"type": "toolCall", "id": tool_id, "name": tool, "arguments": arguments})

    def result(self, tool_id: str, text: str, *, failed: bool = False) -> str:
        """Add what a call gave."""
        content = [{"type": "text", "text": text}]
        return self.message("toolResult", content, toolCallId=tool_id, toolName="bash", isError=failed)

    # ── files ────────────────────────────────────────────────────────

    def data(self) -> bytes:
        """Return the file's bytes."""
        return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in self.lines)

    def save(self, agent: Path) -> Path:
        """Write the session below Pi's folder and return its path."""
        folder = agent / "sessions" / f"--{self.cwd.strip('/').replace('/', '-')}--"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"2026-03-02T09-00-00-000Z_{self.id}.jsonl"
        path.write_bytes(self.data())
        return path

    def _stamp(self) -> str:
        self.clock += timedelta(seconds=1, milliseconds=3)
        return self.clock.isoformat(timespec="milliseconds").replace("+00:00", "Z")
