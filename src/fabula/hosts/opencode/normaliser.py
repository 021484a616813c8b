"""Turns rows of OpenCode's database, or its older JSON files, into records: one a part, one a session's title."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.hosts.fields import kind_name, mapping_of, object_in, state_of, text_of
from fabula.hosts.opencode.messages import Message, created, read_message
from fabula.hosts.opencode.parts import error_text, read_part
from fabula.kernel.clock import parse_time
from fabula.kernel.ids import derived_id
from fabula.kernel.records import Block, Record, Usage

if TYPE_CHECKING:
    from collections.abc import Callable

    from fabula.kernel.records import Kind, SourceFile

_FRESH: dict[str, Any] = {"session": "", "parent": "", "cwd": "", "title": "", "revert": "", "revert_part": ""}
_UNNAMED = ("New session - ", "Child session - ")


class OpenCodeNormaliser:
    """Reads one session's rows in their order, or one stored file (``record.sources.Normaliser``)."""

    def __init__(
        self,
        file: SourceFile,
        state: dict[str, Any] | None,
        stored: Callable[[str, str], dict[str, Any]],
    ) -> None:
        self.state = state_of(state, {**_FRESH, "messages": {}})
        self._stored_kind = file.kind.removeprefix("stored-") if file.kind.startswith("stored-") else ""
        self._stored = stored
        self._offset = self._length = 0
        if not self.state["session"]:
            self.state["session"], self.state["parent"] = file.session, file.parent_session

    def normalise(self, value: Any, offset: int, length: int) -> Record | str:
        """Return the record of a row, or the kind under which it is skipped."""
        if not isinstance(value, dict):
            return "not an object"
        self._offset, self._length = offset, length
        table, row = (
            (self._stored_kind, value) if self._stored_kind else (text_of(value, "table"), mapping_of(value, "row"))
        )
        if table == "session":
            return self._session(row)
        data = _data(row)
        if table == "message":
            return self._message(row, data)
        if table == "part":
            return self._part(row, data)
        return kind_name("row", table)

    # ── sessions ─────────────────────────────────────────────────────

    def _session(self, row: dict[str, Any]) -> Record | str:
        self._take_session(row)
        title = text_of(row, "title")
        if not title:
            return "session"
        record = self._record(text_of(row, "id"), "title", "", created(row))
        record.title, record.title_rank = title, 1 if title.startswith(_UNNAMED) else 2
        record.sidechain, record.spawned_by = False, ""  # a name is no part of a conversation
        return record

    def _take_session(self, row: dict[str, Any]) -> None:
        """Remember what messages and parts need to know of their session."""
        state = self.state
        state["session"] = text_of(row, "id") or state["session"]
        state["parent"] = _either(row, "parent_id", "parentID") or state["parent"]
        state["cwd"] = text_of(row, "directory")
        revert = row.get("revert")
        undone = object_in(revert) if isinstance(revert, str) else mapping_of(row, "revert")
        state["revert"], state["revert_part"] = text_of(undone, "messageID"), text_of(undone, "partID")

    # ── messages ─────────────────────────────────────────────────────

    def _message(self, row: dict[str, Any], data: dict[str, Any]) -> Record | str:
        identity = text_of(row, "id")
        message = self._take_message(identity, row, data)
        error = mapping_of(data, "error")
        if not error:
            return "message"
        record = self._record(identity, "system", "system", message.time)
        record.blocks = [Block("text", error_text(error))]
        record.prompt_id, record.live = message.thread, self._is_live(identity)
        return record

    def _take_message(self, identity: str, row: dict[str, Any], data: dict[str, Any]) -> Message:
        """Read a message and remember it for its parts, now and when one is read again."""
        state = self.state
        state["session"] = _either(row, "session_id", "sessionID") or state["session"]
        if self._stored_kind:
            self._take_session(self._stored(state["session"], ""))
        message = read_message(identity, row, data, state["cwd"])
        if not self._stored_kind:
            state["messages"][identity] = list(message)
        return message

    def _is_live(self, message: str, part: str = "") -> bool:
        """Whether the host has not undone a message, or a part of it."""
        revert, revert_part = self.state["revert"], self.state["revert_part"]
        if not revert or message < revert:
            return True
        return bool(revert_part) and message == revert and part < revert_part

    # ── parts ────────────────────────────────────────────────────────

    def _part(self, row: dict[str, Any], data: dict[str, Any]) -> Record | str:
        owner = _either(row, "message_id", "messageID")
        message = self._message_of(owner, row, data)
        kind, identity = text_of(data, "type"), text_of(row, "id")
        part = read_part(data, message.role, summary=message.summary, subagent=bool(self.state["parent"]))
        if part is None:
            return kind_name("part", kind)
        time = created(row) or message.time or _started(data) or 0
        record = self._record(identity, part.kind, message.role or "assistant", time)
        record.blocks = part.blocks
        record.raw_type = kind
        record.cwd = message.cwd
        record.prompt_id = "" if self.state["parent"] else message.thread
        record.live = self._is_live(owner, identity)
        if message.costs:
            record.usage = Usage(f"opencode:{owner}", message.model, *message[-4:])
        return record

    def _message_of(self, identity: str, row: dict[str, Any], data: dict[str, Any]) -> Message:
        """Return the message of a part: a row before it, or of a stored part the file of its message."""
        known = self.state["messages"].get(identity)
        if known is not None:
            return Message(*known)
        session = _either(row, "session_id", "sessionID") or self.state["session"]
        found = self._stored(session, identity) if self._stored_kind else {}
        message = self._take_message(identity, {**found, "session_id": session}, found)
        if not found and "time" in data:  # texts of the assistant say when they were streamed, a person's do not
            return message._replace(role="assistant")
        return message

    # ── one record ───────────────────────────────────────────────────

    def _record(self, identity: str, kind: Kind, role: str, time: int | None) -> Record:
        state = self.state
        return Record(
            identity or derived_id("opencode", state["session"], self._offset),
            state["session"],
            kind,
            role,
            self._offset,
            self._length,
            time=time or None,
            sidechain=bool(state["parent"]),
            spawned_by=state["session"] if state["parent"] else "",
            cwd=state["cwd"],
            raw_type=kind,
            has_id=bool(identity),
            parent_session=state["parent"],
        )


def _data(row: dict[str, Any]) -> dict[str, Any]:
    """Return what a row says: the JSON in its data column, or of a stored file all of it."""
    text = row.get("data")
    return (object_in(text) or {}) if isinstance(text, str) else row


def _either(row: dict[str, Any], column: str, field: str) -> str:
    return text_of(row, column) or text_of(row, field)


def _started(data: dict[str, Any]) -> int | None:
    return parse_time(mapping_of(data, "time").get("start")) or parse_time(
        mapping_of(mapping_of(data, "state"), "time").get("start")
    )
