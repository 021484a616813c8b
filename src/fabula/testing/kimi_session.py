"""A builder of Kimi Code's sessions: a folder with a state, and a wire for each agent (protocol 1.5)."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_BEGIN = 1_772_442_000_000
_TOKENS = {"inputOther": 100, "output": 20, "inputCacheRead": 7, "inputCacheCreation": 3}


class KimiWire:
    """The wire of one agent, a line each."""

    def __init__(self, seed: str, agent: str = "main") -> None:
        self.seed, self.agent = seed, agent
        self.clock = _BEGIN
        self.turn = -1
        self.lines: list[dict[str, Any]] = [{"type": "metadata", "protocol_version": "1.5", "created_at": _BEGIN}]

    def line(self, kind: str, /, **fields: Any) -> None:
        """Add a line of any type."""
        self.clock += 1003
        self.lines.append({"type": kind, "agentId": self.agent, **fields, "time": self.clock})

    def event(self, kind: str, /, **fields: Any) -> str:
        """Add an event of the loop; return its uuid."""
        digits = sha256(f"{self.seed} {self.agent} {len(self.lines)}".encode()).hexdigest()
        uuid = f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-8{digits[17:20]}-{digits[20:32]}"
        own = {} if kind == "tool.result" else {"uuid": uuid}
        self.line("context.append_loop_event", event={"type": kind, **own, "turnId": str(self.turn), **fields})
        return uuid

    def user(self, text: str, *, identity: str = "", **origin: Any) -> None:
        """Add a message under the user's name."""
        named = {"id": identity} if identity else {}
        content = [{"type": "text", "text": text}]
        message = {"role": "user", "content": content, **named, "toolCalls": [], "origin": origin}
        self.line("context.append_message", message=message)

    def prompt(self, text: str) -> str:
        """Begin a turn with what a person typed; return the message's id."""
        self.turn += 1
        identity = f"msg_{sha256(f'{self.seed} {self.turn}'.encode()).hexdigest()[:26].upper()}"
        given = [{"type": "text", "text": text}]
        self.line("turn.prompt", input=given, origin={"kind": "user"}, promptId=identity, turnId=self.turn)
        self.user(text, identity=identity, kind="user")
        return identity

    def step(self, *parts: dict[str, Any], model: str = "kimi-k3") -> list[str]:
        """Add an answer of the model: its usage, then its parts. Returns their uuids."""
        self.event("step.begin", step=1)
        self.line("usage.record", model=model, usage=_TOKENS, usageScope="turn")
        return [self.event("content.part", part=part) for part in parts]

    def reply(self, text: str, *, thought: str = "") -> None:
        """Add an answer in words."""
        parts = [{"type": "think", "think": thought}] if thought else []
        self.step(*parts, {"type": "text", "text": text})
        self.event("step.end", finishReason="end_turn", usage=_TOKENS)

    def tool(self, name: str, tool_id: str, output: str, *, failed: bool = False, **arguments: Any) -> None:
        """Add a call and what it gave."""
        self.step()
        call = self.event("tool.call", toolCallId=tool_id, name=name, args=arguments)
        result = {"output": output, **({"isError": True} if failed else {})}
        self.event("tool.result", parentUuid=call, toolCallId=tool_id, result=result)

    def data(self) -> bytes:
        """Return the wire's bytes."""
        return b"".join(
            json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for line in self.lines
        )


class KimiSession:
    """A session's folder: ``sessions/wd_NAME_DIGEST/SESSION``."""

    def __init__(self, seed: str, *, cwd: str = "/home/mira/code/harbor", **state: Any) -> None:
        digits = sha256(f"kimi {seed}".encode()).hexdigest()
        self.id = f"session_{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-8{digits[17:20]}-{digits[20:32]}"
        self.main = KimiWire(seed)
        self.agents = {"main": self.main}
        self.state = {"id": self.id, "version": 2, "cwd": cwd, **state}
        self.project = f"wd_{cwd.rpartition('/')[2]}_{sha256(cwd.encode()).hexdigest()[:12]}"

    def subagent(self, name: str) -> KimiWire:
        """Return the wire of a new subagent."""
        wire = self.agents[name] = KimiWire(self.id, name)
        return wire

    def save(self, home: Path) -> Path:
        """Write the session below Kimi's folder; return the main wire's path."""
        folder = home / "sessions" / self.project / self.id
        for name, wire in self.agents.items():
            path = folder / "agents" / name / "wire.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(wire.data())
        (folder / "state.json").write_text(json.dumps(self.state))
        return folder / "agents" / "main" / "wire.jsonl"
