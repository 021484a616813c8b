"""Turns the lines of a Pi session into records. Format: Pi's own docs, ``session-format.md`` (versions 1 to 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.hosts.fields import kind_name, mapping_of, state_of, text_of
from fabula.hosts.pi.messages import read_message, said, usage_of
from fabula.hosts.pi.source import session_in
from fabula.hosts.pi.tree import Tree
from fabula.kernel.clock import parse_time
from fabula.kernel.ids import derived_id
from fabula.kernel.records import Block, Record

if TYPE_CHECKING:
    from fabula.kernel.records import Kind, SourceFile

_FRESH: dict[str, Any] = {"session": "", "cwd": "", "parent_session": ""}
CALLS_KEPT = 1024  # calls whose results may still come


class PiNormaliser:
    """Reads one session in file order (``record.sources.Normaliser``)."""

    def __init__(self, file: SourceFile, state: dict[str, Any] | None) -> None:
        self.state = state_of(state, {**_FRESH, "session": file.session, "tree": {}, "calls": {}})
        self._tree = Tree(self.state["tree"])
        self._scope = file.session or derived_id("pi", file.path)
        self._offset = self._length = 0

    def normalise(self, value: Any, offset: int, length: int) -> Record | str:
        """Return the record of an entry, or the kind under which it is skipped."""
        if not isinstance(value, dict):
            return "not an object"
        self._offset, self._length = offset, length
        kind = text_of(value, "type")
        if kind == "session":
            return self._head(value)
        number = self._place(value, kind)
        if kind == "message":
            return self._message(value, number)
        if kind in ("compaction", "branch_summary"):
            return self._with_usage(self._record(number, value, "summary", "user", _text(value, "summary")), value)
        if kind == "custom_message":
            return self._record(number, value, "notice", "user", said(value.get("content")))
        if kind == "session_info":
            return self._name(value, number)
        if kind == "usage":
            record = self._with_usage(self._record(number, value, "other", "", []), value)
            return record if record.usage else kind_name(kind, text_of(value, "kind"))
        return kind_name(kind, text_of(value, "customType")) if kind == "custom" else kind_name(kind)

    # ── the session ──────────────────────────────────────────────────

    def _head(self, value: dict[str, Any]) -> str:
        state = self.state
        state["session"] = text_of(value, "id") or state["session"]
        state["cwd"] = text_of(value, "cwd")
        state["parent_session"] = session_in(text_of(value, "parentSession") or text_of(value, "branchedFrom"))
        return "session"

    def _name(self, value: dict[str, Any], number: int) -> Record | str:
        name = text_of(value, "name").strip()
        if not name:
            return "session_info"
        record = self._record(number, value, "title", "", [])
        record.title, record.title_rank = name, 3
        return record

    def _place(self, value: dict[str, Any], kind: str) -> int:
        """Put an entry into the tree; one without an id (version 1) hangs nowhere."""
        identity = text_of(value, "id")
        if not identity:
            return -1
        opens = kind == "message" and text_of(mapping_of(value, "message"), "role") == "user"
        return self._tree.add(identity, text_of(value, "parentId"), _time(value) or 0, opens=opens)

    # ── messages ─────────────────────────────────────────────────────

    def _message(self, value: dict[str, Any], number: int) -> Record | str:
        message = mapping_of(value, "message")
        read = read_message(message, self._uid(number))
        if read is None:
            return kind_name("message", text_of(message, "role"))
        if not read.blocks:
            return kind_name("message", text_of(message, "role"), "empty")
        record = self._record(number, value, read.kind, read.role, read.blocks)
        record.raw_type = text_of(message, "role")
        if read.answers:
            record.source = self._call_of(read.answers)
        self._remember_calls(record)
        record.usage = usage_of(message, f"pi:{record.uid}", _model(message))
        return record

    def _remember_calls(self, record: Record) -> None:
        calls = self.state["calls"]
        for block in record.blocks:
            if block.kind == "call" and block.tool_id:
                calls[block.tool_id] = record.uid
                if len(calls) > CALLS_KEPT:
                    del calls[next(iter(calls))]

    def _call_of(self, tool_id: str) -> str:
        found = self.state["calls"].get(tool_id)
        return found if isinstance(found, str) else ""

    # ── one record ───────────────────────────────────────────────────

    def _uid(self, number: int) -> str:
        return self._tree.uid(number) or derived_id("pi", self._scope, self._offset)

    def _record(self, number: int, value: dict[str, Any], kind: Kind, role: str, blocks: list[Block]) -> Record:
        tree, placed = self._tree, number >= 0
        return Record(
            self._uid(number),
            self.state["session"] or self._scope,
            kind,
            role,
            self._offset,
            self._length,
            time=_time(value),
            parent=tree.uid(tree.parent(number)) if placed else "",
            prompt_id=tree.uid(tree.turn(number)) if placed else "",
            blocks=blocks,
            cwd=self.state["cwd"],
            raw_type=text_of(value, "type"),
            has_id=placed,
            live=tree.is_live(number) if placed else True,
            parent_session=self.state["parent_session"],
        )

    def _with_usage(self, record: Record, value: dict[str, Any]) -> Record:
        record.usage = usage_of(value, f"pi:{record.uid}", _model(value))
        return record


def _text(value: dict[str, Any], key: str) -> list[Block]:
    text = text_of(value, key)
    return [Block("text", text)] if text else []


def _model(value: dict[str, Any]) -> str:
    return text_of(value, "responseModel") or text_of(value, "model")


def _time(value: dict[str, Any]) -> int | None:
    return parse_time(value.get("timestamp")) or parse_time(mapping_of(value, "message").get("timestamp"))
