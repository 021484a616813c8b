"""Turns the lines of a Codex rollout into records, whatever version wrote them.

A line is ``{timestamp, type, payload}``; before October 2025 it was the payload itself. What the model saw is a
*response item*; *events* repeat it for the screen and are read only where no item says the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.hosts.codex import items
from fabula.hosts.codex.events import EventReader
from fabula.hosts.codex.thread import Thread
from fabula.hosts.codex.tokens import usage
from fabula.hosts.fields import kind_name, mapping_of, text_of
from fabula.kernel.clock import parse_time
from fabula.kernel.records import Block, Record

if TYPE_CHECKING:
    from collections.abc import Callable

    from fabula.kernel.records import Kind, SourceFile, Usage


class CodexNormaliser:
    """Reads one rollout in file order (``record.sources.Normaliser``)."""

    def __init__(self, file: SourceFile, state: dict[str, Any] | None) -> None:
        self._file = file
        self.thread = Thread(file, state)
        self.state = self.thread.state
        self._events = EventReader(self)
        self._offset = self._length = 0
        self._readers: dict[str, Callable[[dict[str, Any]], Record | str]] = {
            "response_item": self._item,
            "event_msg": self._events.read,
            "session_meta": self._meta,
            "turn_context": self._context,
            "compacted": self._compacted,
            "token_usage_record": self._usage_record,
            "inter_agent_communication": self._agent_message,
        }

    def normalise(self, value: Any, offset: int, length: int) -> Record | str:
        """Return the record of a line, or the kind under which it is skipped. A line read before reads the same."""
        if not isinstance(value, dict):
            return "not an object"
        if offset < self.state["to"]:
            return CodexNormaliser(self._file, self.thread.as_at(offset)).normalise(value, offset, length)
        self._offset, self._length = offset, length
        found = self._line(value)
        self.thread.passed(offset, offset + length)
        return found

    def _line(self, value: dict[str, Any]) -> Record | str:
        time = parse_time(value.get("timestamp"))
        if time is not None:
            self.state["time"] = time
        payload = value.get("payload")
        kind = value.get("type")
        if not isinstance(payload, dict):
            return self._bare(value, kind)
        if mapping_of(value, "metadata").get("compaction_output") is True:
            return "response_item/message/compaction_output"  # the line "compacted" holds the same text
        reader = self._readers.get(kind) if isinstance(kind, str) else None
        return reader(payload) if reader is not None else kind_name(kind)

    def record(
        self,
        kind: Kind,
        role: str,
        raw_type: str,
        *,
        host_id: str = "",
        content: str = "",
        blocks: list[Block] | None = None,
        turn: str | None = None,
    ) -> Record:
        """Build a record of the line in hand; what it is made of decides its uid."""
        state = self.state
        turn = state["turn"] if turn is None else turn
        uid, has_id = self.thread.uid(raw_type, host_id, content, turn=turn, offset=self._offset)
        return Record(
            uid,
            state["session"],
            kind,
            role,
            self._offset,
            self._length,
            time=state["time"] or None,
            prompt_id=self.thread.key(turn),
            sidechain=state["sidechain"],
            spawned_by=state["spawned_by"],
            blocks=blocks or [],
            cwd=state["cwd"],
            branch=state["branch"],
            raw_type=raw_type,
            has_id=has_id,
            sdk=state["sdk"],
            parent_session=state["parent_session"],
        )

    def usage_of(self, response: str, counts: dict[str, Any]) -> Record:
        """Build the record that bills one response; nothing of it is searched."""
        bill: Usage = usage(f"codex:{response}", self.state["model"], counts)
        record = self.record("other", "", "usage", host_id=response)
        record.usage = bill
        return record

    # ── kinds of lines ───────────────────────────────────────────────

    def _bare(self, value: dict[str, Any], kind: object) -> Record | str:
        """Read a line of the time before lines had an envelope."""
        if kind is None:
            if "record_type" in value:
                return "state"
            if isinstance(value.get("id"), str):
                return self._meta(value)
            if isinstance(value.get("session"), dict):  # the head of a document, older still
                return self._meta(value["session"])
            return "untyped"
        return self._item(value) if isinstance(kind, str) and kind not in self._readers else kind_name(kind)

    def _item(self, payload: dict[str, Any]) -> Record | str:
        self.state["items"] = True
        return items.read_item(self, payload)

    def _meta(self, payload: dict[str, Any]) -> str:
        self.thread.meta(payload)
        return "session_meta"

    def _context(self, payload: dict[str, Any]) -> str:
        self.thread.context(payload)
        return "turn_context"

    def _compacted(self, payload: dict[str, Any]) -> Record | str:
        text = text_of(payload, "message")
        return self.record("summary", "user", "compacted", content=text, blocks=[Block("text", text)])

    def _usage_record(self, payload: dict[str, Any]) -> Record | str:
        response, counts = text_of(payload, "response_id"), mapping_of(payload, "usage")
        if not response or not counts:
            return "token_usage_record"
        self.state["counted"] = True
        return self.usage_of(f"{text_of(payload, 'thread_id') or self.state['session']}:{response}", counts)

    def _agent_message(self, payload: dict[str, Any]) -> Record | str:
        text = text_of(payload, "content") or text_of(payload, "message")
        if not text:
            return "inter_agent_communication"
        kind: Kind = "task" if self.state["sidechain"] else "notice"
        return self.record(
            kind, "user", "inter_agent_communication", host_id=text_of(payload, "id"), content=text,
            blocks=[Block("text", text)],
        )  # fmt: skip
