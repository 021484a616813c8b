"""Turns the wire of a Kimi Code agent into records: ``agents/NAME/wire.jsonl``, protocol 1.0 to 1.5.

What the model was told stands in the ``context.*`` lines, and those are read. ``turn.prompt`` and ``agent.message.*``
say the same again for other readers; they and the client's own bookkeeping are counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.hosts.fields import count_of, kind_name, mapping_of, state_of, text_of
from fabula.hosts.kimi.content import blocks_of, calls_of, result_block, usage_of
from fabula.kernel.clock import parse_time
from fabula.kernel.ids import derived_id
from fabula.kernel.records import Block, Record

if TYPE_CHECKING:
    from fabula.kernel.records import Kind, SourceFile

TURNS_KEPT = 200  # turns of a person that may still be undone
CALLS_KEPT = 1024  # calls whose results may still come
_FRESH: dict[str, Any] = {"session": "", "parent": "", "cwd": "", "turn": ""}
_TOKENS = ("inputOther", "output", "inputCacheRead", "inputCacheCreation")
_PERSONAL = {"skill_activation", "plugin_command"}  # origins of what a person's slash command put in


class WireNormaliser:
    """Reads the wire of one agent in file order (``record.sources.Normaliser``)."""

    def __init__(self, file: SourceFile, state: dict[str, Any] | None, cwd: str) -> None:
        fresh = {**_FRESH, "session": file.session, "parent": file.parent_session, "cwd": cwd}
        self.state = state_of(state, {**fresh, "turns": [], "calls": {}, "agents": {}})
        self._scope = file.session or derived_id("kimi", file.path)
        self._offset = self._length = 0
        self._time: int | None = None

    def normalise(self, value: Any, offset: int, length: int) -> Record | str:
        """Return the record of a line, or the kind under which it is skipped."""
        if not isinstance(value, dict):
            return "not an object"
        self._offset, self._length = offset, length
        self._time = parse_time(value.get("time"))
        kind = text_of(value, "type")
        if kind == "context.append_message":
            return self._message(mapping_of(value, "message"))
        if kind == "context.append_loop_event":
            return self._event(mapping_of(value, "event"))
        if kind == "usage.record":
            return self._bill(value)
        if kind in ("context.apply_compaction", "context.clear", "context.undo"):
            return self._change(kind.removeprefix("context."), value)
        self._learn(kind, value)
        return kind_name(kind)

    def _learn(self, kind: str, value: dict[str, Any]) -> None:
        """Take in what lines that say nothing themselves tell of the others."""
        if kind == "config.update":
            self.state["cwd"] = text_of(value, "cwd") or self.state["cwd"]
        elif kind == "subagent.spawned":
            agent, call = text_of(value, "subagentId"), text_of(value, "parentToolCallId")
            if agent and call:
                _keep(self.state["agents"], call, agent_session(self._root(), agent))

    # ── messages ─────────────────────────────────────────────────────

    def _message(self, message: dict[str, Any]) -> Record | str:
        role = text_of(message, "role")
        if role == "user":
            return self._user(message)
        if role == "assistant":
            calls = calls_of(message)
            return self._said(message, "call" if calls else "reply", role, [*blocks_of(message.get("content")), *calls])
        if role == "tool":
            tool_id = text_of(message, "toolCallId")
            block = self._result(tool_id, message.get("content"), failed=message.get("isError") is True)
            record = self._said(message, "result", role, [block])
            if isinstance(record, Record):
                record.source = self._call_of(tool_id)
            return record
        return kind_name("message", role)

    def _user(self, message: dict[str, Any]) -> Record | str:
        kind, own = self._kind_of(mapping_of(message, "origin"))
        record = self._said(message, kind, "user", blocks_of(message.get("content")))
        if own and isinstance(record, Record) and not self.state["parent"]:
            self._turn(record)
        return record

    def _kind_of(self, origin: dict[str, Any]) -> tuple[Kind, bool]:
        """Return what a message under the user's name is, and whether a turn of the person begins with it."""
        source, steered = text_of(origin, "kind"), origin.get("inTurn") is True
        if source in ("", "user"):
            return ("task" if self.state["parent"] else "prompt"), not steered
        if source == "compaction_summary":
            return "summary", False
        if source in _PERSONAL and text_of(origin, "trigger") == "user-slash":
            return "command", not steered
        if source == "system_trigger" and text_of(origin, "name") == "subagent":
            return "task", False
        return "notice", False

    def _turn(self, record: Record) -> None:
        """A turn begins: it can be undone from this record on."""
        state = self.state
        record.prompt_id = state["turn"] = record.uid
        if record.uid not in state["turns"]:
            state["turns"].append(record.uid)
            del state["turns"][:-TURNS_KEPT]

    def _said(self, message: dict[str, Any], kind: Kind, role: str, blocks: list[Block]) -> Record | str:
        """A message without an id (injections, sessions taken over from kimi-cli) is known by its time and words."""
        if not blocks:
            return kind_name("message", role, "empty")
        given = text_of(message, "id")
        words = [f"{block.kind}:{block.text}:{block.tool_id}" for block in blocks]
        scope = self._offset if self._time is None else ""
        uid = derived_id("kimi", given) if given else self._derived(role, scope, *words)
        record = self._record(uid, kind, role, blocks)
        record.has_id = bool(given)
        for block in blocks:
            if block.kind == "call":
                _keep(self.state["calls"], block.tool_id, uid)
        return record

    # ── steps ────────────────────────────────────────────────────────

    def _event(self, event: dict[str, Any]) -> Record | str:
        kind = text_of(event, "type")
        if kind == "content.part":
            blocks = blocks_of(event.get("part"))
            thought = blocks and blocks[0].kind == "thought"
            return self._part(event, "thought" if thought else "reply", "assistant", blocks)
        if kind == "tool.call":
            tool_id = text_of(event, "toolCallId")
            block = Block(
                "call", tool=text_of(event, "name"), tool_id=tool_id, input=dict(mapping_of(event, "args"))
            )  # fmt: skip
            record = self._part(event, "call", "assistant", [block])
            if isinstance(record, Record):
                _keep(self.state["calls"], tool_id, record.uid)
            return record
        if kind == "tool.result":
            return self._tool_result(event)
        return kind_name("loop", kind)

    def _part(self, event: dict[str, Any], kind: Kind, role: str, blocks: list[Block]) -> Record | str:
        if not blocks:
            return kind_name("loop", text_of(event, "type"), "empty")
        given = text_of(event, "uuid")
        record = self._record(given or self._derived(kind, blocks[0].text), kind, role, blocks)
        record.has_id = bool(given)
        record.raw_type = text_of(event, "type")
        return record

    def _tool_result(self, event: dict[str, Any]) -> Record:
        tool_id, call = text_of(event, "toolCallId"), text_of(event, "parentUuid")
        result = mapping_of(event, "result")
        block = self._result(tool_id, result.get("output"), failed=result.get("isError") is True)
        record = self._record(derived_id("kimi", "result", call or self._root(), tool_id), "result", "tool", [block])
        record.source = call or self._call_of(tool_id)
        record.raw_type = "tool.result"
        return record

    def _result(self, tool_id: str, output: Any, *, failed: bool) -> Block:
        agent = self.state["agents"].get(tool_id)
        return result_block(tool_id, output, failed=failed, agent=agent if isinstance(agent, str) else "")

    def _call_of(self, tool_id: str) -> str:
        found = self.state["calls"].get(tool_id)
        return found if isinstance(found, str) else ""

    # ── the rest ─────────────────────────────────────────────────────

    def _bill(self, value: dict[str, Any]) -> Record:
        """One line a response, whether a turn, a compaction or a title asked for it."""
        uid = self._derived("usage", *(str(count_of(mapping_of(value, "usage"), name)) for name in _TOKENS))
        record = self._record(uid, "other", "", [])
        record.usage = usage_of(mapping_of(value, "usage"), f"kimi:{uid}", text_of(value, "model"), _TOKENS)
        record.has_id = False
        return record

    def _change(self, what: str, value: dict[str, Any]) -> Record:
        """The context was summed up, emptied, or taken back by turns of the person."""
        summary = value.get("summary")
        text = summary if isinstance(summary, str) else text_of(value, "contextSummary")
        blocks = [Block("text", text)] if text else blocks_of(mapping_of(value, "summary").get("content"))
        record = self._record(self._derived(what), "summary" if blocks else "boundary", "system", blocks)
        record.has_id = False
        turns = self.state["turns"]
        if what == "undo":
            count = count_of(value, "count")
            if count and turns:
                record.rewinds_to = str(turns[max(len(turns) - count, 0)])
                del turns[max(len(turns) - count, 0) :]
        else:
            turns.clear()
        return record

    def _root(self) -> str:
        return str(self.state["session"] or self._scope)

    def _derived(self, *parts: object) -> str:
        """Return an id by time and content: a fork, which repeats lines as they are, repeats it."""
        when = self._root() if self._time is None else self._time
        return derived_id("kimi", when, *(part if isinstance(part, str | int) else str(part) for part in parts))

    def _record(self, uid: str, kind: Kind, role: str, blocks: list[Block]) -> Record:
        state = self.state
        return Record(
            uid,
            self._root(),
            kind,
            role,
            self._offset,
            self._length,
            time=self._time,
            prompt_id="" if state["parent"] else state["turn"],
            sidechain=bool(state["parent"]),
            spawned_by=self._root() if state["parent"] else "",
            blocks=blocks,
            cwd=state["cwd"],
            raw_type=kind,
            parent_session=state["parent"],
        )


def agent_session(session: str, agent: str) -> str:
    """Return the id under which a subagent of a session is known: agents number themselves anew in each session."""
    return f"{session}.{agent}"


def _keep(table: dict[str, str], key: str, value: str) -> None:
    if key:
        table[key] = value
        if len(table) > CALLS_KEPT:
            del table[next(iter(table))]
