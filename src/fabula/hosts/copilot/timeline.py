"""The oldest sessions of Copilot: one document each, ``{sessionId, startTime, timeline: […], chatMessages: […]}``.

The timeline is what a person saw: prompts, answers, calls with their results. ``chatMessages`` says the same again, as
it was sent to the model; where it stands before the timeline it is part of the head.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.hosts.calls import link_calls
from fabula.hosts.copilot.calls import call
from fabula.hosts.fields import kind_name, mapping_of, state_of, text_of
from fabula.kernel.clock import parse_time
from fabula.kernel.ids import derived_id
from fabula.kernel.records import Block, Record

if TYPE_CHECKING:
    from fabula.kernel.records import Kind, SourceFile

_SAID: dict[str, tuple[Kind, str]] = {
    "user": ("prompt", "user"), "copilot": ("reply", "assistant"),
    "info": ("system", "system"), "error": ("system", "system"),
}  # fmt: skip
_FAILED = ("failure", "rejected", "denied")


class TimelineNormaliser:
    """Reads one document in file order (``record.sources.Normaliser``)."""

    def __init__(self, file: SourceFile, state: dict[str, Any] | None) -> None:
        self.state = state_of(state, {"session": file.session, "asked": {}, "calls": {}})
        self._scope = derived_id("copilot", file.path)

    def normalise(self, value: Any, offset: int, length: int) -> Record | str:
        """Return the record of an entry, or the kind under which it is skipped."""
        if not isinstance(value, dict):
            return "not an object"
        kind, identity = text_of(value, "type"), text_of(value, "id")
        if "sessionId" in value and not kind:
            self.state["session"] = text_of(value, "sessionId")
            return "head"
        said, role = _SAID.get(kind, ("call", "assistant"))
        if kind in _SAID:
            blocks = [Block("text", text_of(value, "text"))] if text_of(value, "text") else []
        elif kind in ("tool_call_requested", "tool_call_completed"):
            blocks = self._call(value, kind, offset)
        else:
            return kind_name("entry", kind)
        if not blocks:
            return kind_name("entry", kind, "empty")
        if blocks[0].kind == "result":
            said, role = "result", "tool"
        session = self.state["session"] or self._scope
        uid = identity or derived_id("copilot", session, offset)
        time = parse_time(value.get("timestamp"))
        record = Record(
            uid, session, said, role, offset, length, time=time, raw_type=kind, blocks=blocks, has_id=bool(identity)
        )
        return link_calls(record, self.state["calls"])

    def _call(self, value: dict[str, Any], kind: str, offset: int) -> list[Block]:
        """A completed call repeats its arguments: they are told once, by the first entry of the call."""
        tool_id = text_of(value, "callId")
        blocks: list[Block] = []
        if self.state["asked"].setdefault(tool_id, offset) == offset:
            blocks.append(call({**value, "toolCallId": tool_id}, "name"))
        if kind == "tool_call_completed":
            told = mapping_of(value, "result")
            outcome = text_of(told, "type")
            text = text_of(told, "log") or (outcome if outcome in _FAILED else "")
            blocks.append(Block("result", text, tool_id=tool_id, failed=outcome in _FAILED))
        return blocks
