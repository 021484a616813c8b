"""A builder of a Copilot CLI session: its log of events and the file that names it, as the client writes them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fabula.testing.transcripts import Ticker, json_line, stable_uuid

if TYPE_CHECKING:
    from pathlib import Path

MODEL = "gpt-5.5"


@dataclass(slots=True)
class CopilotSession:
    """One session under construction: ``{type, data, id, timestamp, parentId}`` a line.

    ``metered`` sessions tell the tokens of each response, as newer versions do.
    """

    seed: str
    cwd: str = "/home/mira/code/harbor"
    name: str = ""
    user_named: bool = False
    metered: bool = True
    clock: Ticker = field(default_factory=Ticker)
    lines: list[dict[str, Any]] = field(default_factory=list)
    turn: str = ""
    asked: str = ""
    made: int = 0

    @property
    def id(self) -> str:
        """The session's id, which its folder is called after."""
        return stable_uuid("copilot", self.seed)

    def event(self, kind: str, *, agent: str = "", **data: Any) -> str:
        """Add an event; return its id."""
        identity = self._id("event")
        parent = self.lines[-1]["id"] if self.lines else None
        line = {"type": kind, "data": data, "id": identity, "timestamp": self.clock.stamp(), "parentId": parent}
        self.lines.append({**line, "agentId": agent} if agent else line)
        return identity

    def begin(self, branch: str = "main") -> None:
        """Add the event that opens every log."""
        context = {"cwd": self.cwd, "gitRoot": self.cwd, "branch": branch}
        self.event("session.start", sessionId=self.id, version=1, producer="copilot-agent", copilotVersion="1.0.102",
                   selectedModel=MODEL, context=context)  # fmt: skip

    def prompt(self, text: str) -> None:
        """Add what a person typed."""
        self.turn = self._id("turn")
        said = f"<current_datetime>2026-03-02T09:00:00.000+00:00</current_datetime>\n\n{text}"
        self.event("user.message", content=text, transformedContent=said, messageId=self._id("message"),
                   delivery="idle", interactionId=self.turn, turnId="0")  # fmt: skip

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return a request that an answer makes; :meth:`result` answers the last one."""
        self.asked = f"call_{self._id('call')[:8]}"
        return {"toolCallId": self.asked, "name": tool, "arguments": arguments, "type": "function"}

    def answer(self, text: str, *calls: dict[str, Any], thought: str = "", agent: str = "", parent: str = "") -> None:
        """Add an answer of the model, with what it cost, and the start of each call."""
        response = f"resp_{self._id('response')[:8]}"
        inside: dict[str, Any] = {"parentToolCallId": parent} if parent else {}
        if self.metered:
            usage = {"model": MODEL, "inputTokens": 900, "outputTokens": 30, "cacheReadTokens": 600,
                     "cacheWriteTokens": 100, "apiCallId": response}  # fmt: skip
            self.event("session.usage_record", agent=agent, usage=usage)
        extra: dict[str, Any] = {"reasoningText": thought} if thought else {}
        self.event("assistant.message", agent=agent, messageId=self._id("message"), model=MODEL, content=text,
                   toolRequests=list(calls), interactionId=self.turn, turnId="0", apiCallId=response,
                   **extra, **inside)  # fmt: skip
        for call in calls:
            self.event("tool.execution_start", agent=agent, toolCallId=call["toolCallId"], toolName=call["name"],
                       arguments=call["arguments"], **inside)  # fmt: skip

    def result(self, text: str, *, key: str = "", **shell: int) -> None:
        """Add what the call ``key``, else the last one, gave; ``exitCode=`` for a shell's."""
        extra: dict[str, Any] = {"shellExecution": shell} if shell else {}
        self.event("tool.execution_complete", toolCallId=key or self.asked, success=True, interactionId=self.turn,
                   turnId="0", result={"content": text}, **extra)  # fmt: skip

    def subagent(self, task: str, answer: str) -> str:
        """Add a subagent's whole run, inside its call; return its id."""
        request = self.call("task", agent_type="explore", description="Look", prompt=task)
        self.answer("", request)
        key, agent = self.asked, self._id("agent")
        self.event("subagent.started", agent=agent, toolCallId=key, agentName="explore", agentDisplayName="Explore",
                   agentDescription="Look")  # fmt: skip
        self.event("user.message", agent=agent, content=task, source=f"agent-{self.id}", interactionId=self._id("turn"))
        self.answer(answer, agent=agent, parent=key)
        self.event("subagent.completed", agent=agent, toolCallId=key, agentName="explore", agentDisplayName="Explore")
        self.result(answer, key=key)
        return agent

    def shutdown(self) -> None:
        """Add the event that ends a run, with the session's totals."""
        usage = {"inputTokens": 900, "outputTokens": 30, "cacheReadTokens": 600, "cacheWriteTokens": 100}
        self.event("session.shutdown", shutdownType="routine", modelMetrics={MODEL: {"usage": usage}})

    def save(self, home: Path) -> Path:
        """Write the log, and the workspace file beside it, below a ``.copilot`` folder; return the log's path."""
        folder = home / "session-state" / self.id
        folder.mkdir(parents=True, exist_ok=True)
        facts = {"id": self.id, "cwd": self.cwd, "branch": "main", "name": json.dumps(self.name) if self.name else "",
                 "user_named": str(self.user_named).lower(), "summary_count": "0"}  # fmt: skip
        text = "".join(f"{key}: {value}\n" for key, value in facts.items() if value)
        (folder / "workspace.yaml").write_text(text, encoding="utf-8")
        path = folder / "events.jsonl"
        path.write_bytes(b"".join(map(json_line, self.lines)))
        return path

    def _id(self, what: str) -> str:
        self.made += 1
        return stable_uuid("copilot", self.seed, what, self.made)
