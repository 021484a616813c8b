"""Turns the context of a kimi-cli session into records where no wire was kept: plain messages without times or ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.hosts.fields import kind_name, state_of, text_of
from fabula.hosts.kimi.content import blocks_of, calls_of, result_block
from fabula.kernel.ids import derived_id
from fabula.kernel.records import Record

if TYPE_CHECKING:
    from fabula.kernel.records import Block, Kind, SourceFile

_FAILED = "<system>ERROR"  # how the client begins the answer of a call that failed


class CliContextNormaliser:
    """Reads ``{"role", "content", "tool_calls", "tool_call_id"}``; ``_checkpoint`` and its like are counted."""

    def __init__(self, file: SourceFile, state: dict[str, Any] | None, cwd: str, *, told: bool) -> None:
        self.state = state_of(state, {"session": file.session, "cwd": cwd, "turn": "", "parent": file.parent_session})
        self._told = told
        self._offset = self._length = 0

    def normalise(self, value: Any, offset: int, length: int) -> Record | str:
        """Return the record of a message, or the kind under which it is skipped."""
        if not isinstance(value, dict):
            return "not an object"
        if self._told:
            return "context/in its wire"
        self._offset, self._length = offset, length
        role, content = text_of(value, "role"), value.get("content")
        if role == "user":
            return self._prompt(blocks_of(content))
        if role == "assistant":
            calls = calls_of(value)
            return self._record("call" if calls else "reply", role, [*blocks_of(content), *calls])
        if role == "tool":
            block = result_block(text_of(value, "tool_call_id"), content, failed=False)
            block.failed = block.text.startswith(_FAILED)
            return self._record("result", role, [block])
        return kind_name("context", role)

    def _prompt(self, blocks: list[Block]) -> Record | str:
        injected = bool(blocks) and blocks[0].text.lstrip().startswith(("<system>", "<system-reminder>"))
        kind: Kind = "notice" if injected else "task" if self.state["parent"] else "prompt"
        record = self._record(kind, "user", blocks)
        if kind == "prompt" and isinstance(record, Record):
            record.prompt_id = self.state["turn"] = record.uid
        return record

    def _record(self, kind: Kind, role: str, blocks: list[Block]) -> Record | str:
        if not blocks:
            return kind_name("context", role, "empty")
        state = self.state
        uid = derived_id("kimi-cli", "context", state["session"], self._offset)
        return Record(
            uid, state["session"], kind, role, self._offset, self._length,
            prompt_id="" if state["parent"] else state["turn"], blocks=blocks, cwd=state["cwd"], raw_type=role,
            sidechain=bool(state["parent"]), spawned_by=state["session"] if state["parent"] else "", has_id=False,
            parent_session=state["parent"],
        )  # fmt: skip
