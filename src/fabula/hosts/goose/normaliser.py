"""Turns Goose's sessions into records: one a message, one a title, one for what a response cost."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fabula.hosts.calls import link_calls
from fabula.hosts.fields import count_of, kind_name, list_of, mapping_of, object_in, state_of, text_of
from fabula.hosts.goose.content import content_types, read_content
from fabula.kernel.clock import parse_time
from fabula.kernel.ids import derived_id
from fabula.kernel.records import Block, Record, Usage

if TYPE_CHECKING:
    from fabula.kernel.records import Kind, SourceFile

_FRESH: dict[str, Any] = {"session": "", "parent": "", "cwd": "", "sdk": False}
_UNNAMED = frozenset(("", "New Chat", "New Session", "CLI Session", "ACP Session", "Session"))
_COMMAND = re.compile(r"/[a-z][\w-]*(?: [^\n]*)?")
_BY_PROGRAMS = frozenset(("scheduled", "sub_agent", "hidden"))


class GooseNormaliser:
    """Reads one session's rows in their order, or the lines of an older file (``record.sources.Normaliser``)."""

    def __init__(self, file: SourceFile, state: dict[str, Any] | None) -> None:
        self.state = state_of(state, {**_FRESH, "calls": {}, "session": file.session, "parent": file.parent_session})
        self._imported = file.kind == "imported"
        self._offset = self._length = 0

    def normalise(self, value: Any, offset: int, length: int) -> Record | str:
        """Return the record of a row or a line, or the kind under which it is skipped."""
        if not isinstance(value, dict):
            return "not an object"
        self._offset, self._length = offset, length
        if self._imported:
            return "in the database"
        table, row = text_of(value, "table"), mapping_of(value, "row")
        if table == "sessions":
            return self._session(row)
        if table == "messages":
            content, metadata = text_of(row, "content_json"), text_of(row, "metadata_json")
            return self._message(
                text_of(row, "message_id"), text_of(row, "role"), row.get("created_timestamp"),
                _items(content), object_in(metadata) or {} if metadata else {},
            )  # fmt: skip
        if table == "usage_ledger":
            return self._bill(row)
        if table:
            return kind_name("row", table)
        if "role" in value:
            return self._message(
                text_of(value, "id"), text_of(value, "role"), value.get("created"),
                list_of(value, "content"), mapping_of(value, "metadata"),
            )  # fmt: skip
        return self._session(value) if "description" in value or "working_dir" in value else kind_name("line")

    # ── the session ──────────────────────────────────────────────────

    def _session(self, row: dict[str, Any]) -> Record | str:
        state = self.state
        state["parent"] = text_of(row, "parent_session_id") or state["parent"]
        state["cwd"] = text_of(row, "working_dir")
        state["sdk"] = text_of(row, "session_type") in _BY_PROGRAMS and not state["parent"]
        title = text_of(row, "name") or text_of(row, "description")
        usage = self._totals(row)
        if not title and usage is None:
            return "session"
        uid = text_of(row, "id") or derived_id("goose", state["session"], "title", title)
        record = self._record(uid, "title", "", parse_time(row.get("created_at")))
        record.has_id = "id" in row
        record.title = title
        record.title_rank = 3 if row.get("user_set_name") in (1, True) else 1 if title in _UNNAMED else 2
        record.sidechain, record.spawned_by = False, ""  # a name is no part of a conversation
        record.usage = usage
        return record

    def _totals(self, row: dict[str, Any]) -> Usage | None:
        """Before there was a ledger (schema 15) the session's row alone tells the tokens, as a running total."""
        if "parent_session_id" in row:
            return None
        spent, written = count_of(row, "accumulated_input_tokens"), count_of(row, "accumulated_output_tokens")
        identity = f"goose:{self.state['session']}"
        return Usage(identity, _model(row), spent, written) if spent or written else None

    def _bill(self, row: dict[str, Any]) -> Record:
        """What one response cost; the ledger does not say which message it was."""
        key = f"goose:{self.state['session']}:{count_of(row, 'id')}"
        record = self._record(derived_id(key), "other", "", parse_time(row.get("created_timestamp")))
        read, made = count_of(row, "cache_read_tokens"), count_of(row, "cache_write_tokens")
        fresh = max(0, count_of(row, "input_tokens") - read - made)
        record.usage = Usage(key, text_of(row, "model"), fresh, count_of(row, "output_tokens"), read, made)
        return record

    # ── messages ─────────────────────────────────────────────────────

    def _message(
        self, identity: str, role: str, created: object, items: list[Any], metadata: dict[str, Any]
    ) -> Record | str:
        blocks = read_content(items)
        if not blocks:
            return kind_name("message", *content_types(items)[:2])
        shown, read = metadata.get("userVisible") is not False, metadata.get("agentVisible") is not False
        context = metadata.get("turnContext") is True
        kind = "notice" if context else self._kind(role, blocks, shown=shown)
        uid = derived_id("goose", self.state["session"], identity, role, *_essence(blocks))
        record = self._record(uid, kind, "tool" if kind == "result" else role, parse_time(created))
        record.blocks = blocks
        record.has_id = bool(identity)
        record.live = shown or read or context  # what neither sees was written again behind a summary
        return link_calls(record, self.state["calls"])

    def _kind(self, role: str, blocks: list[Block], *, shown: bool) -> Kind:
        kinds = {block.kind for block in blocks}
        if "result" in kinds:
            return "result"
        if "call" in kinds:
            return "call"
        if role == "user":
            if not shown:
                return "summary"  # a compaction puts its summary under the person's name, for the model alone
            return "task" if self.state["parent"] else "command" if _COMMAND.fullmatch(blocks[0].text) else "prompt"
        if kinds == {"other"}:
            return "system"
        if not shown:
            return "notice"
        return "reply" if kinds & {"text", "image"} else "thought"

    def _record(self, uid: str, kind: Kind, role: str, time: int | None) -> Record:
        state = self.state
        return Record(
            uid,
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
            sdk=state["sdk"],
            parent_session=state["parent"],
        )


def _items(text: str) -> list[Any]:
    """Read a JSON list; anything else holds nothing."""
    wrapped = object_in(f'{{"items":{text}}}') if text.lstrip().startswith("[") else None
    return list_of(wrapped, "items")


def _model(row: dict[str, Any]) -> str:
    config = text_of(row, "model_config_json")
    return text_of(object_in(config), "model_name") if config else ""


def _essence(blocks: list[Block]) -> list[str]:
    """What a message says, without what Goose notes about it later: its identity, with the host's own id.

    The host's id alone would not do: the pieces of one streamed answer share it.
    """
    return [part for block in blocks for part in (block.kind, block.tool_id, block.tool, block.text)]
