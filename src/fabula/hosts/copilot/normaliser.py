"""Turns the events of a Copilot session into records: one a message, a result, a summary, an error.

An event is ``{type, data, id, timestamp, parentId, agentId?}``. What a subagent does stands in the log of the session
that started it, with the subagent's id; those records are a session of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.hosts.calls import link_calls
from fabula.hosts.copilot.calls import attachments, call, result
from fabula.hosts.fields import count_of, kind_name, list_of, mapping_of, state_of, text_of
from fabula.kernel.clock import parse_time
from fabula.kernel.hashes import digest
from fabula.kernel.ids import derived_id
from fabula.kernel.records import Block, Record, Usage

if TYPE_CHECKING:
    from collections.abc import Callable

    from fabula.kernel.records import Kind, SourceFile

_FRESH: dict[str, Any] = {"session": "", "sdk": False, "metered": -1}
#: Events that say one text of the client's own: the kind of their record, and the field of the text.
_SAYINGS: dict[str, tuple[Kind, str]] = {
    "system.notification": ("notice", "content"), "skill.invoked": ("notice", "content"),
    "session.error": ("system", "message"), "session.warning": ("system", "message"),
    "session.info": ("system", "message"), "subagent.failed": ("system", "error"),
    "abort": ("system", "reason"), "session.handoff": ("summary", "summary"),
}  # fmt: skip
#: Events after which the session may be in another folder.
_MOVES = ("session.start", "session.resume", "session.context_changed")


class CopilotNormaliser:
    """Reads one log in file order (``record.sources.Normaliser``).

    The saved state is keyed by offsets and ids, so that a line which is read again, alone, reads the same.
    """

    def __init__(self, file: SourceFile, state: dict[str, Any] | None) -> None:
        tables: dict[str, Any] = {"places": [], "agents": {}, "thoughts": {}, "calls": {}}
        self.state = state_of(state, {**_FRESH, "session": file.session, **tables})
        self._offset = self._length = 0
        self._event: dict[str, Any] = {}
        self._handlers: dict[str, Callable[[dict[str, Any]], Record | str]] = {
            "user.message": self._user,
            "assistant.message": self._assistant,
            "assistant.reasoning": self._reasoning,
            "tool.user_requested": self._requested,
            "tool.execution_complete": self._result,
            "session.compaction_complete": self._compaction,
            "session.context_cleared": lambda _: self._record("boundary", "system"),
            "session.usage_record": self._metered,
            "session.shutdown": self._shutdown,
        }

    def normalise(self, value: Any, offset: int, length: int) -> Record | str:
        """Return the record of an event, or the kind under which it is skipped."""
        if not isinstance(value, dict):
            return "not an object"
        self._offset, self._length, self._event = offset, length, value
        kind, data = text_of(value, "type"), mapping_of(value, "data")
        handler = self._handlers.get(kind)
        if handler is not None:
            return handler(data)
        if kind in _SAYINGS:
            return self._saying(kind, data)
        if kind in _MOVES:
            self._move(kind, data)
        elif kind == "subagent.started" and self._agent():
            self.state["agents"].setdefault(self._agent(), text_of(data, "toolCallId"))
        return kind_name(kind)

    # ── what is said ─────────────────────────────────────────────────

    def _user(self, data: dict[str, Any]) -> Record | str:
        text, source = text_of(data, "content"), text_of(data, "source")
        kind: Kind = "prompt"
        if self._agent():
            kind = "task"
        elif source not in ("", "user") or data.get("isAutopilotContinuation") is True:
            kind = "notice"
        blocks = [Block("text", text)] if text else []
        blocks += attachments(data)
        if not blocks:
            return kind_name("user.message", "empty")
        return self._record(kind, "user", blocks, data)

    def _assistant(self, data: dict[str, Any]) -> Record | str:
        thought, text = text_of(data, "reasoningText"), text_of(data, "content")
        blocks = [Block("thought", thought)] if thought and not self._was_thought(thought) else []
        if text:
            blocks.append(Block("text", text))
        calls = [call(request, "name") for request in list_of(data, "toolRequests") if isinstance(request, dict)]
        if not blocks and not calls:
            return kind_name("assistant.message", "empty")
        kind: Kind = "call" if calls else "reply" if text else "thought"
        return self._record(kind, "assistant", [*blocks, *calls], data)

    def _reasoning(self, data: dict[str, Any]) -> Record | str:
        text = text_of(data, "content")
        if not text:
            return kind_name("assistant.reasoning", "empty")
        self.state["thoughts"].setdefault(_print(text), self._offset)
        return self._record("thought", "assistant", [Block("thought", text)], data)

    def _was_thought(self, text: str) -> bool:
        """Whether an event of its own told this thought before."""
        return bool(self.state["thoughts"].get(_print(text), self._offset) < self._offset)

    def _saying(self, kind: str, data: dict[str, Any]) -> Record | str:
        record_kind, field = _SAYINGS[kind]
        text = text_of(data, field)
        if not text:
            return kind_name(kind)
        role = "user" if record_kind == "notice" else "system"
        return self._record(record_kind, role, [Block("text", text)], data)

    # ── tools ────────────────────────────────────────────────────────

    def _requested(self, data: dict[str, Any]) -> Record | str:
        """A person ran a tool (``!command``)."""
        return self._record("command", "user", [call(data, "toolName")], data)

    def _result(self, data: dict[str, Any]) -> Record | str:
        tool_id = text_of(data, "toolCallId")
        agent = next((agent for agent, started_by in self.state["agents"].items() if started_by == tool_id), "")
        return self._record("result", "tool", [result(data, agent if tool_id else "")], data)

    # ── the session ──────────────────────────────────────────────────

    def _move(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "session.start":
            self.state["session"] = self.state["session"] or text_of(data, "sessionId")
            self.state["sdk"] = bool(text_of(data, "detachedFromSpawningParentSessionId"))
        place = data if kind == "session.context_changed" else mapping_of(data, "context")
        found, places = [self._offset, text_of(place, "cwd"), text_of(place, "branch")], self.state["places"]
        if found[1] and (not places or (places[-1][0] < self._offset and places[-1][1:] != found[1:])):
            places.append(found)

    def _place(self) -> tuple[str, str]:
        """Return the folder and the branch in which the event in hand happened."""
        for offset, cwd, branch in reversed(self.state["places"]):
            if offset <= self._offset:
                return cwd, branch
        return "", ""

    def _compaction(self, data: dict[str, Any]) -> Record | str:
        summary, error = text_of(data, "summaryContent"), text_of(data, "error")
        if data.get("success") is not True or not summary:
            return self._record("system", "system", [Block("text", error)], data) if error else "compaction/failed"
        record = self._record("summary", "user", [Block("text", summary)], data)
        spent = mapping_of(data, "compactionTokensUsed")
        record.usage = _usage(f"copilot:{record.uid}", text_of(spent, "model"), spent)
        return record

    # ── tokens ───────────────────────────────────────────────────────

    def _metered(self, data: dict[str, Any]) -> Record | str:
        """One response of the API."""
        if self.state["metered"] < 0:
            self.state["metered"] = self._offset
        usage = mapping_of(data, "usage")
        identity = text_of(mapping_of(usage, "accounting"), "usageId") or text_of(usage, "apiCallId")
        record = self._record("other", "", [], data)
        session = self.state["session"]
        record.usage = _usage(f"copilot:{session}:{identity or record.uid}", text_of(usage, "model"), usage)
        return record

    def _shutdown(self, data: dict[str, Any]) -> Record | str:
        """Older versions tell the tokens here alone: the session's total so far, for each model."""
        models = mapping_of(data, "modelMetrics")
        if -1 < self.state["metered"] < self._offset or len(models) != 1:
            return kind_name("session.shutdown")
        ((model, metrics),) = models.items()
        spent = mapping_of(metrics, "usage")
        record = self._record("other", "", [], data)
        record.usage = _usage(f"copilot:{self.state['session']}:{model}", model, spent)
        return record

    # ── one record ───────────────────────────────────────────────────

    def _agent(self) -> str:
        return text_of(self._event, "agentId")

    def _record(
        self, kind: Kind, role: str, blocks: list[Block] | None = None, data: dict[str, Any] | None = None
    ) -> Record:
        agent, session = self._agent(), self.state["session"]
        parent_call = text_of(data, "parentToolCallId") or self.state["agents"].get(agent, "")
        if not agent and parent_call:  # versions that named no agent
            agent = derived_id("copilot", session, parent_call)
        uid = text_of(self._event, "id")
        cwd, branch = self._place()
        record = Record(
            uid or derived_id("copilot", session, self._offset),
            agent or session,
            kind,
            role,
            self._offset,
            self._length,
            time=parse_time(self._event.get("timestamp")),
            prompt_id="" if agent else text_of(data, "interactionId"),
            sidechain=bool(agent),
            spawned_by=parent_call or agent,
            blocks=blocks or [],
            cwd=cwd,
            branch=branch,
            raw_type=text_of(self._event, "type"),
            has_id=bool(uid),
            sdk=self.state["sdk"],
            parent_session=session if agent else "",
        )
        return link_calls(record, self.state["calls"])


def _usage(response: str, model: str, spent: dict[str, Any]) -> Usage | None:
    """Read a count of tokens; what was read from or written to a cache is part of the input there, not here."""
    read, written = count_of(spent, "cacheReadTokens"), count_of(spent, "cacheWriteTokens")
    fresh = max(0, count_of(spent, "inputTokens") - read - written)
    output = count_of(spent, "outputTokens")
    return Usage(response, model, fresh, output, read, written) if fresh or output or read or written else None


def _print(text: str) -> str:
    return digest(text.encode("utf-8", "surrogatepass")).hex()[:24]
