"""Builders of small transcripts of Codex, Gemini CLI and OpenCode (its older JSON storage)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from fabula.testing.transcripts import Ticker, json_line, stable_uuid

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(slots=True)
class CodexRollout:
    """One Codex rollout under construction: ``{timestamp, type, payload}`` a line."""

    seed: str
    cwd: str = "/home/mira/code/harbor"
    clock: Ticker = field(default_factory=Ticker)
    version: str = "0.171.0"
    lines: list[dict[str, Any]] = field(default_factory=list)
    turn: str = ""
    made: int = 0

    @property
    def id(self) -> str:
        """The thread's id, which its file name repeats."""
        return stable_uuid("thread", self.seed)

    def begin(self, branch: str = "main") -> None:
        """Add the meta line that opens every rollout."""
        stamp = self.clock.stamp()
        git = {"commit_hash": self._hex(40), "branch": branch}
        self._line("session_meta", {
            "id": self.id, "session_id": self.id, "timestamp": stamp, "cwd": self.cwd, "originator": "codex_cli_rs",
            "cli_version": self.version, "source": "cli", "model_provider": "openai", "git": git,
        })  # fmt: skip

    def prompt(self, text: str) -> None:
        """Add a turn: its context, what the client injected and what a person typed (twice, as the client does)."""
        self.turn = stable_uuid("turn", self.seed, self._next())
        policies = {"approval_policy": "on-request", "sandbox_policy": {"type": "workspace-write"}}
        self._line("turn_context", {"turn_id": self.turn, "cwd": self.cwd, "model": "gpt-5.3-codex", **policies})
        injected = f"<environment_context>\n  <cwd>{self.cwd}</cwd>\n  <shell>zsh</shell>\n</environment_context>"
        self._message("user", "input_text", injected)
        self._message("user", "input_text", text)
        self._line("event_msg", {"type": "user_message", "message": text, "images": []})

    def reply(self, text: str) -> None:
        """Add what the assistant said: the item and the event that repeats it."""
        self._line("event_msg", {"type": "agent_message", "message": text})
        self._message("assistant", "output_text", text)

    def thought(self, summary: str) -> None:
        """Add a reasoning item; only its summary is readable."""
        parts = [{"type": "summary_text", "text": summary}]
        self._line("response_item", {"type": "reasoning", "summary": parts, "encrypted_content": self._hex(64)})

    def shell(self, command: str, output: str, *, code: int = 0) -> None:
        """Add a shell call and its output."""
        call = f"call_{self._hex(24)}"
        arguments = json.dumps({"cmd": command, "workdir": self.cwd})
        self._line("response_item", {
            "type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": call,
        })  # fmt: skip
        text = (
            f"Chunk ID: {self._hex(6)}\nWall time: 0.4120 seconds\nProcess exited with code {code}\nOutput:\n{output}"
        )
        self._line("response_item", {"type": "function_call_output", "call_id": call, "output": text})

    def patch(self, text: str, answer: str) -> None:
        """Add an ``apply_patch`` call and its answer."""
        call = f"call_{self._hex(24)}"
        fields = {"name": "apply_patch", "input": text, "call_id": call, "status": "completed"}
        self._line("response_item", {"type": "custom_tool_call", **fields})
        output = json.dumps({"output": answer, "metadata": {"exit_code": 0, "duration_seconds": 0.1}})
        self._line("response_item", {"type": "custom_tool_call_output", "call_id": call, "output": output})

    def tokens(self, *, read: int, written: int) -> None:
        """Add the running count of tokens."""
        usage = {
            "input_tokens": read,
            "cached_input_tokens": 0,
            "output_tokens": written,
            "total_tokens": read + written,
        }
        self._line("event_msg", {
            "type": "token_count", "info": {"total_token_usage": usage, "last_token_usage": usage},
        })  # fmt: skip

    def data(self) -> bytes:
        """Return the rollout's bytes."""
        return b"".join(map(json_line, self.lines))

    def save(self, config: Path) -> Path:
        """Write the rollout below the Codex configuration folder ``config`` and return its path."""
        began: str = self.lines[0]["timestamp"]
        day, time = began[:10], began[11:19].replace(":", "-")
        path = config / "sessions" / day.replace("-", "/") / f"rollout-{day}T{time}-{self.id}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.data())
        return path

    def _message(self, role: str, kind: str, text: str) -> None:
        content = [{"type": kind, "text": text}]
        self._line("response_item", {
            "type": "message", "id": f"msg_{self._hex(24)}", "role": role, "content": content,
        })  # fmt: skip

    def _line(self, kind: str, payload: Mapping[str, Any]) -> None:
        self.lines.append({"timestamp": self.clock.stamp(), "type": kind, "payload": dict(payload)})

    def _next(self) -> int:
        self.made += 1
        return self.made

    def _hex(self, length: int) -> str:
        return sha256(f"{self.seed}/{self._next()}".encode()).hexdigest()[:length]


@dataclass(slots=True)
class GeminiChat:
    """One chat of Gemini CLI under construction; written as one JSON document or, in the newer shape, as lines."""

    seed: str
    cwd: str = "/home/mira/code/tide-notes"
    clock: Ticker = field(default_factory=Ticker)
    messages: list[dict[str, Any]] = field(default_factory=list)

    @property
    def id(self) -> str:
        """The session's id."""
        return stable_uuid("gemini", self.seed)

    @property
    def folder(self) -> str:
        """The name of the project's folder below ``tmp``: a digest of its path."""
        return sha256(self.cwd.encode()).hexdigest()

    def prompt(self, text: str) -> None:
        """Add what a person typed."""
        self._message("user", text)

    def reply(self, text: str, *calls: tuple[str, Mapping[str, Any], str], thought: str = "") -> None:
        """Add an answer with the tool calls it made: (name, arguments, result) each."""
        shown = []
        for number, (name, arguments, result) in enumerate(calls):
            answer = [{"functionResponse": {"name": name, "response": {"output": result}}}]
            head = {"id": f"{name}-{len(self.messages)}-{number}", "name": name, "args": dict(arguments)}
            shown.append({**head, "status": "success", "result": answer, "resultDisplay": result})
        thoughts = [{"subject": "Plan", "description": thought}] if thought else []
        self._message("gemini", text, thoughts=thoughts, toolCalls=shown, model="gemini-2.5-pro")

    def save(self, config: Path, *, lines: bool = False) -> Path:
        """Write the chat below the Gemini configuration folder ``config`` and return its path."""
        first, last = self.messages[0]["timestamp"], self.messages[-1]["timestamp"]
        head = {"sessionId": self.id, "projectHash": self.folder, "startTime": first, "lastUpdated": last}
        stem = f"session-{first[:16].replace(':', '-')}-{self.id[:8]}"
        path = config / "tmp" / self.folder / "chats" / (stem + (".jsonl" if lines else ".json"))
        path.parent.mkdir(parents=True, exist_ok=True)
        (config / "tmp" / self.folder / ".project_root").write_text(self.cwd, encoding="utf-8")
        if lines:
            path.write_bytes(b"".join(map(json_line, [head, *self.messages])))
        else:
            text = json.dumps({**head, "messages": self.messages}, indent=2, ensure_ascii=False)
            path.write_bytes(text.encode())
        return path

    def _message(self, kind: str, text: str, **fields: Any) -> None:
        identity = stable_uuid("message", self.seed, len(self.messages))
        self.messages.append({"id": identity, "timestamp": self.clock.stamp(), "type": kind, "content": text, **fields})


@dataclass(slots=True)
class OpenCodeStorage:
    """One session in OpenCode's older storage: a JSON file for the session, each message and each part."""

    seed: str
    cwd: str
    title: str
    clock: Ticker = field(default_factory=Ticker)
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    made: int = 0

    @property
    def id(self) -> str:
        """The session's id."""
        return "ses_" + sha256(self.seed.encode()).hexdigest()[:26]

    def begin(self) -> None:
        """Add the session's own file."""
        project = sha256(self.cwd.encode()).hexdigest()[:40]
        now = self._now()
        fields = {"version": "0.9.11", "projectID": project, "directory": self.cwd, "title": self.title}
        self.files[f"session/{project}/{self.id}.json"] = {
            "id": self.id, **fields, "time": {"created": now, "updated": now},
        }  # fmt: skip

    def message(self, role: str, *parts: dict[str, Any]) -> None:
        """Add a message of ``user`` or ``assistant`` with its parts (``{"type": "text", "text": …}`` and so on)."""
        message = self._key("msg")
        head: dict[str, Any] = {"id": message, "sessionID": self.id, "role": role, "time": {"created": self._now()}}
        if role == "assistant":
            head |= {"modelID": "gpt-5-mini", "providerID": "openai", "path": {"cwd": self.cwd, "root": self.cwd}}
            head |= {
                "tokens": {"input": 900, "output": 120, "reasoning": 0, "cache": {"read": 0, "write": 0}},
                "cost": 0,
            }
        self.files[f"message/{self.id}/{message}.json"] = head
        for part in parts:
            key = self._key("prt")
            self.files[f"part/{message}/{key}.json"] = {"id": key, "messageID": message, "sessionID": self.id, **part}

    def tool(self, name: str, arguments: Mapping[str, Any], output: str) -> dict[str, Any]:
        """Return a tool part: call and result in one."""
        state = {"status": "completed", "input": dict(arguments), "output": output, "title": name, "metadata": {}}
        return {"type": "tool", "tool": name, "callID": self._key("call"), "state": state}

    def save(self, data: Path) -> Path:
        """Write the files below OpenCode's data folder ``data`` and return the storage folder."""
        for name, value in self.files.items():
            path = data / "storage" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(value, indent=2, ensure_ascii=False), encoding="utf-8")
        return data / "storage"

    def _now(self) -> int:
        self.clock.stamp()
        return int(self.clock.now.timestamp() * 1000)

    def _key(self, kind: str) -> str:
        self.made += 1
        return f"{kind}_{self.made:04d}{sha256(f'{self.seed}/{self.made}'.encode()).hexdigest()[:22]}"
