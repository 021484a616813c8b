"""Turns the rows of a Cursor chat into records: one a message, one for its name.

Messages tell no time: they have that of the checkpoint which lists them first.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from fabula.hosts.calls import link_calls, note_record, record_before
from fabula.hosts.cursor.checkpoints import read_checkpoint, workspace_folder
from fabula.hosts.cursor.messages import assistant_blocks, options_of, parts_of, result_blocks, user_blocks
from fabula.hosts.cursor.meta import read_meta
from fabula.hosts.fields import kind_name, mapping_of, object_in, state_of, text_of
from fabula.kernel.clock import parse_time
from fabula.kernel.ids import derived_id
from fabula.kernel.records import Record

if TYPE_CHECKING:
    from fabula.hosts.cursor.checkpoints import Checkpoint
    from fabula.kernel.records import Block, Kind, SourceFile

_FRESH: dict[str, Any] = {"session": "", "root": "", "created": 0}
_UNNAMED = "New Agent"


class CursorNormaliser:
    """Reads one chat's rows in their order (``record.sources.Normaliser``).

    The saved state is keyed by offsets and ids, so that a row which is read again, alone, reads the same.
    """

    def __init__(self, file: SourceFile, state: dict[str, Any] | None) -> None:
        tables: dict[str, Any] = {"moments": [], "places": [], "asked": {}, "calls": {}, "subagents": {}, "chains": {}}
        self.state = state_of(state, {**_FRESH, "session": file.session, **tables})
        self._workspace = os.path.basename(os.path.dirname(os.path.dirname(file.path.rpartition("#")[0])))
        self._offset = self._length = 0

    def normalise(self, value: Any, offset: int, length: int) -> Record | str:
        """Return the record of a row, or the kind under which it is skipped."""
        if not isinstance(value, dict):
            return "not an object"
        self._offset, self._length = offset, length
        table, row = text_of(value, "table"), mapping_of(value, "row")
        if table == "meta":
            return self._meta(row)
        if table != "blobs":
            return kind_name("row", table)
        data = mapping_of(row, "data")
        text = text_of(data, "utf8") or text_of(row, "data")
        message = object_in(text) if text.startswith("{") else None
        if message is not None:
            return self._message(message, text_of(row, "id"))
        checkpoint = read_checkpoint(_bytes(data), cut="back" in data)
        return "blob" if checkpoint is None else self._checkpoint(checkpoint, text_of(row, "id"))

    # ── the chat ─────────────────────────────────────────────────────

    def _meta(self, row: dict[str, Any]) -> Record | str:
        value = row.get("value")
        facts = read_meta(text_of(value, "utf8") if isinstance(value, dict) else value)
        state = self.state
        state["root"] = text_of(facts, "latestRootBlobId") or state["root"]
        state["created"] = parse_time(facts.get("createdAt")) or state["created"]
        name = text_of(facts, "name")
        if not name:
            return "meta"
        record = self._record(derived_id("cursor", state["session"], "title", name), "title", "", [])
        record.title, record.title_rank = name, 1 if name == _UNNAMED else 2
        return record

    def _checkpoint(self, checkpoint: Checkpoint, identity: str) -> Record | str:
        """Note the moment; tell the calls that still ran when the chat was written last."""
        state = self.state
        folder = workspace_folder(checkpoint.folders, self._workspace)
        _note(state["moments"], self._offset, checkpoint.time)
        _note(state["places"], self._offset, folder)
        for agent, messages in checkpoint.subagents.items():
            for message_id in messages:
                state["subagents"].setdefault(message_id, [self._offset, agent])
        if identity != state["root"]:
            return "checkpoint"
        for text in checkpoint.pending:
            message = object_in(text)
            if message is not None and text_of(message, "role") == "assistant":
                found = self._message(message, identity)
                if isinstance(found, Record):
                    return found
        return "checkpoint"

    # ── messages ─────────────────────────────────────────────────────

    def _message(self, message: dict[str, Any], identity: str) -> Record | str:
        role, parts, noted = text_of(message, "role"), parts_of(message), options_of(message)
        kind: Kind
        if role == "user":
            kind, blocks = user_blocks(parts)
            if noted.get("isSummary") is True:
                kind = "summary"
            elif noted.get("loopReminder") is not None:
                kind = "notice"
        elif role == "assistant":
            kind, blocks = assistant_blocks(parts)
        elif role == "tool":
            kind, blocks = "result", result_blocks(message, parts)
        else:
            return kind_name("message", role)
        if not blocks:
            return kind_name("message", role, "empty")
        uid = self._uid(identity, blocks)
        if not uid:
            return kind_name("message", role, "repeated")
        record = self._record(uid, kind, role, blocks)
        record.prompt_id = text_of(noted, "requestId")
        agent = self._subagent(identity)
        if agent:
            record.sidechain, record.spawned_by = True, agent
            record.kind = "task" if kind == "prompt" else kind
            record.parent = record_before(self.state["chains"], agent, record)
            note_record(self.state["chains"], agent, record)
        return link_calls(record, self.state["calls"])

    def _subagent(self, identity: str) -> str:
        """Return the subagent that said a message: only what a checkpoint before it lists for one, not for the chat."""
        match self.state["subagents"].get(identity):
            case [int(offset), str(agent)] if offset < self._offset:
                return agent
        return ""

    def _uid(self, identity: str, blocks: list[Block]) -> str:
        """A message is known by its blob; one with calls by the first of them, told or still running.

        Blobs are named after what they hold, so chats share names; ``""`` means that the calls were told before.
        """
        session = self.state["session"]
        asked = next((block.tool_id for block in blocks if block.kind == "call" and block.tool_id), "")
        if not asked:
            return derived_id("cursor", session, identity)
        first = self.state["asked"].setdefault(asked, self._offset) == self._offset
        return derived_id("cursor", session, "call", asked) if first else ""

    def _record(self, uid: str, kind: Kind, role: str, blocks: list[Block]) -> Record:
        state = self.state
        return Record(
            uid,
            state["session"],
            kind,
            role,
            self._offset,
            self._length,
            time=_noted(state["moments"], self._offset) or state["created"] or None,
            blocks=blocks,
            cwd=_noted(state["places"], self._offset) or "",
            raw_type=role or kind,
        )


def _note(table: list[Any], offset: int, value: Any) -> None:
    """Remember what holds from ``offset`` on."""
    if value and (not table or (table[-1][0] < offset and table[-1][1] != value)):
        table.append([offset, value])


def _noted(table: list[Any], offset: int) -> Any:
    for start, value in reversed(table):
        if start <= offset:
            return value
    return None


def _bytes(data: dict[str, Any]) -> bytes:
    """Return a blob's bytes from its form in a row's line."""
    try:
        return bytes.fromhex(text_of(data, "hex")) if "hex" in data else text_of(data, "utf8").encode()
    except ValueError:
        return b""
