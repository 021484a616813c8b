"""Turns Gemini CLI's chats into records: the messages of its documents, and the lines of its newer logs.

A log appends a message again whenever it grew (tool calls are added to an answer when they end). The first line of
a message makes its record; a later one makes a record of what is new in it, so that nothing is found twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.hosts.fields import count_of, kind_name, list_of, mapping_of, state_of, text_of
from fabula.hosts.gemini import content
from fabula.kernel.clock import parse_time
from fabula.kernel.ids import derived_id
from fabula.kernel.records import Block, Record, Usage

if TYPE_CHECKING:
    from fabula.kernel.records import Kind, SourceFile

_FRESH: dict[str, Any] = {"session": "", "parent": "", "cwd": "", "title": "", "thread": "", "first": "", "head": False}
_NOTES = {"info", "warning", "error"}


class GeminiNormaliser:
    """Reads one chat in file order (``record.sources.Normaliser``)."""

    def __init__(self, file: SourceFile, state: dict[str, Any] | None, cwd: str) -> None:
        fresh = {**_FRESH, "session": file.session, "parent": file.parent_session, "cwd": cwd}
        tables: dict[str, Any] = {"said": {}, "calls": {}, "answers": {}, "billed": {}}
        self.state = state_of(state, {**fresh, **tables})
        self._offset = self._length = 0
        self._scope = file.session or derived_id("gemini", file.path)

    def normalise(self, value: Any, offset: int, length: int) -> Record | str:
        """Return the record of a message or a line, or the kind under which it is skipped."""
        if not isinstance(value, dict):
            return "not an object"
        self._offset, self._length = offset, length
        if isinstance(value.get("$rewindTo"), str):
            return self._rewind(value["$rewindTo"])
        for operator in ("$set", "$patch"):
            if isinstance(value.get(operator), dict):
                return self._update(operator, value[operator])
        if isinstance(value.get("id"), str) or "type" in value:
            return self._message(value)
        if "sessionId" in value or "projectHash" in value:
            return self._head(value)
        return kind_name("untyped")

    # ── what is said about the session ───────────────────────────────

    def _head(self, value: dict[str, Any]) -> Record | str:
        state = self.state
        state["session"] = text_of(value, "sessionId") or state["session"]
        state["title"] = text_of(value, "summary")
        if not state["cwd"]:
            folders = [folder for folder in list_of(value, "directories") if isinstance(folder, str)]
            state["cwd"] = folders[0] if folders else ""
        return self._messages("head", value) if list_of(value, "messages") else "head"

    def _update(self, operator: str, value: dict[str, Any]) -> Record | str:
        if isinstance(value.get("id"), str):
            return self._message(value)
        if list_of(value, "messages"):
            return self._messages(f"{operator}/messages", value)
        title = text_of(value, "summary")
        if not title:
            return kind_name(operator, *sorted(value)[:2])
        record = self._record(derived_id("gemini", self._session(), "title", title), "title", "")
        record.title, record.title_rank = title, 2
        return record

    def _messages(self, name: str, value: dict[str, Any]) -> Record | str:
        """Read a line that holds a whole history: only messages that no other line holds are of interest."""
        fresh = [
            message
            for message in list_of(value, "messages")
            if isinstance(message, dict)
            and self._is_first(text_of(message, "id"))
            and content.texts(message.get("content"))
        ]
        if not fresh:
            return name
        if len(fresh) == 1:
            return self._message(fresh[0])
        blocks: list[Block] = []
        kinds: set[Kind] = set()
        for message in fresh:
            kind, said = self._user(message) if text_of(message, "type") == "user" else ("reply", _answer(message))
            kinds.add(kind)
            blocks += said
            self._is_new(text_of(message, "id"), said)
        identity = derived_id("gemini", self._session(), name, *(text_of(message, "id") for message in fresh))
        record = self._record(identity, "notice" if kinds == {"notice"} else "summary", "user")
        record.blocks = blocks
        record.time = parse_time(text_of(fresh[0], "timestamp"))
        return record

    def _rewind(self, target: str) -> Record:
        """The message named and all after it are taken back; of an unknown one, everything."""
        uid = self._uid(target) if target in self.state["said"] else self.state["first"]
        record = self._record(derived_id("gemini", self._session(), "rewind", self._offset), "boundary", "system")
        record.rewinds_to = uid
        record.has_id = False
        return record

    # ── what a line adds ─────────────────────────────────────────────
    # Whatever is told is remembered with the line that told it first: that line reads the same when it is read again.

    def _is_first(self, identity: str) -> bool:
        """Whether this line is the first with a message."""
        told = self.state["said"].get(identity)
        return not isinstance(told, dict) or self._offset in list(told.values())[:1]

    def _is_new(self, identity: str, blocks: list[Block]) -> bool:
        """Whether this line is the first in which a message says this."""
        told = self.state["said"].setdefault(identity, {})
        return bool(told.setdefault(_print(blocks), self._offset) == self._offset)

    def _tells(self, table: str, key: str) -> bool:
        """Whether this line is the first to tell of a call, an answer or a bill."""
        return bool(self.state[table].setdefault(key, self._offset) == self._offset)

    # ── messages ─────────────────────────────────────────────────────

    def _message(self, value: dict[str, Any]) -> Record | str:
        kind = text_of(value, "type")
        if kind == "user":
            return self._user_message(value)
        if kind == "gemini":
            return self._answer(value)
        if kind in _NOTES:
            texts = content.texts(value.get("content"))
            return self._said(value, "system", "system", [Block("text", text) for text in texts])
        return kind_name("message", kind)

    def _user_message(self, value: dict[str, Any]) -> Record | str:
        kind, blocks = self._user(value)
        if kind == "result":
            blocks = [block for block in blocks if self._tells("answers", block.tool_id or str(self._offset))]
            return self._said(value, kind, "tool", blocks) if blocks else "message/answers told before"
        return self._said(value, kind, "user", blocks)

    def _user(self, value: dict[str, Any]) -> tuple[Kind, list[Block]]:
        """Return the kind and blocks of a message under the user's name."""
        given = value.get("content")
        texts, typed = content.texts(given), content.texts(value.get("displayContent"))
        blocks = [Block("text", text) for text in typed or texts]
        if typed and typed != texts:
            blocks += [Block("document", text) for text in texts if text not in typed]
        blocks += [Block("image", images=1)] * content.pictures(given)
        first = blocks[0].text if blocks else ""
        if not blocks:
            told = content.answers(given)
            return ("result", told) if told else ("notice", [])
        if content.is_injected(first):
            return "notice", blocks
        if content.is_snapshot(first):
            return "summary", blocks
        if content.is_command(first):
            return "command", blocks
        return "task" if self.state["parent"] else "prompt", blocks

    def _answer(self, value: dict[str, Any]) -> Record | str:
        spoken = _answer(value)
        blocks: list[Block] = []
        for use in content.tool_uses(value):
            if self._tells("calls", use.id):
                blocks.append(use.call)
            if use.result is not None and self._tells("answers", use.id):
                blocks.append(use.result)
        kinds = {block.kind for block in blocks}
        kind: Kind = "call" if "call" in kinds else "result" if "result" in kinds else "reply"
        if not blocks and {block.kind for block in spoken} == {"thought"}:
            kind = "thought"
        return self._said(value, kind, "assistant", spoken, blocks)

    def _said(
        self, value: dict[str, Any], kind: Kind, role: str, spoken: list[Block], tools: list[Block] | None = None
    ) -> Record | str:
        """Build the record of a message, or of what is new in one that was said before."""
        state, identity = self.state, text_of(value, "id")
        tools = tools or []
        tokens = mapping_of(value, "tokens")
        billed = bool(tokens) and self._tells("billed", identity or str(self._offset))
        uid = self._uid(identity)
        first = not identity or self._is_first(identity)
        new = not identity or self._is_new(identity, spoken)
        blocks = [*(spoken if new else ()), *tools]
        if not blocks and not billed:
            return "message/empty" if first else "message/repeated"
        if not first:
            marks = (f"{block.kind}:{block.tool_id}" for block in tools)
            uid = derived_id("gemini", self._session(), identity, _print(spoken) if new else "", *marks)
        if kind == "prompt":
            state["thread"] = uid
        record = self._record(uid, kind if blocks else "other", role)
        record.blocks = blocks
        record.has_id = bool(identity)
        record.raw_type = text_of(value, "type")
        record.time = parse_time(value.get("timestamp"))
        record.title, record.title_rank = state["title"], 2 if state["title"] else 0
        state["title"] = ""
        if tokens:
            record.usage = _usage(f"gemini:{self._session()}:{identity or self._offset}", value, tokens)
        return record

    # ── one record ───────────────────────────────────────────────────

    def _session(self) -> str:
        return str(self.state["session"] or self._scope)

    def _uid(self, identity: str) -> str:
        """Return the uid of a message: its id where that is a UUID; the client's own ids return in other sessions."""
        if len(identity) == 36 and identity.count("-") == 4:
            return identity
        return derived_id("gemini", self._session(), identity or self._offset)

    def _record(self, uid: str, kind: Kind, role: str) -> Record:
        state = self.state
        state["first"] = state["first"] or uid
        return Record(
            uid,
            self._session(),
            kind,
            role,
            self._offset,
            self._length,
            prompt_id="" if state["parent"] else state["thread"],
            sidechain=bool(state["parent"]),
            spawned_by=self._session() if state["parent"] else "",
            cwd=state["cwd"],
            raw_type=kind,
            parent_session=state["parent"],
        )


def _answer(value: dict[str, Any]) -> list[Block]:
    return [*content.thoughts(value), *(Block("text", text) for text in content.texts(value.get("content")))]


def _print(blocks: list[Block]) -> str:
    """Return a short print of what blocks say, to know it again."""
    return derived_id(*(f"{block.kind}:{block.text}" for block in blocks))[4:20] if blocks else ""


def _usage(response: str, value: dict[str, Any], tokens: dict[str, Any]) -> Usage:
    cached = count_of(tokens, "cached")
    sent = count_of(tokens, "input") + count_of(tokens, "tool")
    made = count_of(tokens, "output") + count_of(tokens, "thoughts")
    return Usage(response, text_of(value, "model"), max(sent - cached, 0), made, cached)
