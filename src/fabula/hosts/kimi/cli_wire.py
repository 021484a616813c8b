"""Turns the wire of an older kimi-cli session into records: ``{"timestamp": s, "message": {"type", "payload"}}``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.hosts.fields import kind_name, mapping_of, state_of, text_of
from fabula.hosts.kimi.content import blocks_of, call_block, result_block, usage_of
from fabula.hosts.kimi.wire import agent_session
from fabula.kernel.clock import parse_time
from fabula.kernel.ids import derived_id
from fabula.kernel.records import Block, Record

if TYPE_CHECKING:
    from fabula.kernel.records import Kind, SourceFile

_FRESH: dict[str, Any] = {"session": "", "parent": "", "cwd": "", "turn": ""}
_TOKENS = ("input_other", "output", "input_cache_read", "input_cache_creation")
_AGENT = "agent_id: "


class CliWireNormaliser:
    """Reads one session's or subagent's wire in file order (``record.sources.Normaliser``)."""

    def __init__(self, file: SourceFile, state: dict[str, Any] | None, cwd: str) -> None:
        fresh = {**_FRESH, "session": file.session, "parent": file.parent_session, "cwd": cwd}
        self.state = state_of(state, fresh)
        self._offset = self._length = 0
        self._moment = ""  # the line's time to the microsecond: nothing else tells two lines apart

    def normalise(self, value: Any, offset: int, length: int) -> Record | str:
        """Return the record of a line, or the kind under which it is skipped."""
        if not isinstance(value, dict):
            return "not an object"
        self._offset, self._length = offset, length
        message = mapping_of(value, "message")
        if not message:
            return kind_name(text_of(value, "type"))
        self._moment = str(value.get("timestamp"))
        record = self._event(text_of(message, "type"), mapping_of(message, "payload"))
        if isinstance(record, Record):
            record.time = parse_time(value.get("timestamp"))
        return record

    def _event(self, kind: str, payload: dict[str, Any]) -> Record | str:
        if kind in ("TurnBegin", "SteerInput"):
            return self._prompt(kind, payload, opens=kind == "TurnBegin")
        if kind == "ContentPart":
            blocks = blocks_of(payload)
            thought = blocks and blocks[0].kind == "thought"
            return self._record(kind, "thought" if thought else "reply", "assistant", blocks)
        reader = {"ToolCall": self._call, "ToolResult": self._result, "StatusUpdate": self._bill}.get(kind)
        if reader is not None:
            return reader(payload)
        if kind == "CompactionBegin":
            return self._record(kind, "boundary", "system", [], silent=True)
        if kind in ("Notification", "PlanDisplay"):
            texts = [text for text in (text_of(payload, name) for name in ("title", "body", "content")) if text]
            return self._record(kind, "notice", "system", [Block("text", text) for text in texts])
        return kind_name(kind)

    def _prompt(self, kind: str, payload: dict[str, Any], *, opens: bool) -> Record | str:
        name: Kind = "task" if self.state["parent"] else "prompt"
        record = self._record(kind, name, "user", blocks_of(payload.get("user_input")))
        if opens and isinstance(record, Record) and not self.state["parent"]:
            record.prompt_id = self.state["turn"] = record.uid
        return record

    def _call(self, payload: dict[str, Any]) -> Record | str:
        block = call_block(payload)
        return self._record("ToolCall", "call", "assistant", [block], self._call_uid(block.tool_id))

    def _result(self, payload: dict[str, Any]) -> Record | str:
        tool_id, value = text_of(payload, "tool_call_id"), mapping_of(payload, "return_value")
        failed = value.get("is_error") is True
        block = result_block(tool_id, value.get("output"), failed=failed)
        message = text_of(value, "message")
        if message and (failed or not block.text):
            block.text = f"{block.text}\n{message}".strip()
        if block.text.startswith(_AGENT):
            agent = block.text[len(_AGENT) :].split("\n", 1)[0].strip()
            block.input = {"agentId": agent_session(self.state["session"], agent)}
        record = self._record("ToolResult", "result", "tool", [block])
        if isinstance(record, Record):
            record.source = self._call_uid(tool_id)
        return record

    def _call_uid(self, tool_id: str) -> str:
        """Return the uid of a call by its id, which providers may number anew in every session."""
        return derived_id("kimi-cli", "call", self.state["session"], tool_id or self._moment)

    def _bill(self, payload: dict[str, Any]) -> Record | str:
        tokens = mapping_of(payload, "token_usage")
        record = self._record("StatusUpdate", "other", "", [], silent=True) if tokens else "StatusUpdate"
        if isinstance(record, Record):
            response = text_of(payload, "message_id") or record.uid
            record.usage = usage_of(tokens, f"kimi:{response}", "", _TOKENS)
        return record

    def _record(
        self, event: str, kind: Kind, role: str, blocks: list[Block], uid: str = "", *, silent: bool = False
    ) -> Record | str:
        if not blocks and not silent:
            return kind_name(event, "empty")
        state, text = self.state, "".join(block.text for block in blocks)
        return Record(
            uid or derived_id("kimi-cli", self._moment, event, text, *(block.tool_id for block in blocks)),
            state["session"],
            kind,
            role,
            self._offset,
            self._length,
            prompt_id="" if state["parent"] else state["turn"],
            sidechain=bool(state["parent"]),
            spawned_by=state["session"] if state["parent"] else "",
            blocks=blocks,
            cwd=state["cwd"],
            raw_type=event,
            has_id=False,
            parent_session=state["parent"],
        )
