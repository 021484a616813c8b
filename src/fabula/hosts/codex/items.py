"""Response items: what the model was given and what it answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from fabula.hosts.codex.calls import read_call, spawned_agent
from fabula.hosts.codex.injected import item_kinds, voice
from fabula.hosts.codex.outputs import read_output
from fabula.hosts.fields import kind_name, list_of, mapping_of, text_of
from fabula.kernel.ids import derived_id
from fabula.kernel.records import Block

if TYPE_CHECKING:
    from fabula.hosts.codex.thread import Thread
    from fabula.kernel.records import Kind, Record


class Line(Protocol):
    """The line in hand, as the readers of its payload see it."""

    thread: Thread
    state: dict[str, Any]

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
        """Build a record of the line in hand."""
        ...  # fmt: skip

    def usage_of(self, response: str, counts: dict[str, Any]) -> Record:
        """Build the record that bills one response."""
        ...


_SUMMARY_ITEMS = {"compaction", "compaction_summary", "context_compaction"}


def read_item(line: Line, payload: dict[str, Any]) -> Record | str:
    """Return the record of a response item, or the kind under which it is skipped."""
    kind = text_of(payload, "type") or ("message" if "role" in payload else "")
    if kind == "message":
        return _message(line, payload)
    if kind == "reasoning":
        return _reasoning(line, payload)
    line.state["mute"] = False
    if kind.endswith("_output") and "call" in kind:
        return _result(line, payload, kind)
    if kind.endswith("_call"):
        return _call(line, payload, kind)
    if kind in _SUMMARY_ITEMS:
        turn = line.thread.turn_of(payload)
        return line.record("boundary", "system", kind, host_id=text_of(payload, "id"), turn=turn)
    if kind == "ghost_snapshot":
        commit = text_of(mapping_of(payload, "ghost_commit"), "id")
        return line.record("other", "", kind, host_id=commit)
    if kind == "tool_search_output":
        return _result(line, payload, kind)
    return kind_name("response_item", kind)


# ── messages ─────────────────────────────────────────────────────────


def _message(line: Line, payload: dict[str, Any]) -> Record | str:
    role = text_of(payload, "role")
    line.state["mute"] = False
    if role == "user":
        return _user_message(line, payload)
    blocks = [block for block, _ in _contents(payload)]
    if not blocks:
        return kind_name("response_item", "message", "empty")
    kind: Kind = "reply" if role == "assistant" else "notice"
    return said(line, kind, role, blocks, host_id=text_of(payload, "id"), turn=line.thread.turn_of(payload))


def _user_message(line: Line, payload: dict[str, Any]) -> Record | str:
    contents = _contents(payload)
    if not contents:
        return kind_name("response_item", "message", "empty")
    voices = {block.kind if block.kind != "text" else voice(block.text, kind) for block, kind in contents}
    kind: Kind = "notice"
    if "said" in voices or "image" in voices:
        kind = "task" if line.state["sidechain"] else "prompt"
    elif "shell" in voices:
        kind = "command"
    for block, word in contents:
        if block.kind == "text" and voice(block.text, word) == "injected":
            line.thread.environment(block.text)
            if kind != "notice":
                block.kind = "other"
    blocks = [block for block, _ in contents]
    return said(line, kind, "user", blocks, host_id=text_of(payload, "id"), turn=line.thread.turn_of(payload))


def said(line: Line, kind: Kind, role: str, blocks: list[Block], *, turn: str, host_id: str = "") -> Record | str:
    """Build the record of a message, unless an event has already said it."""
    text = "\n".join(block.text for block in blocks)
    record = line.record(kind, role, "message", host_id=host_id, content=f"{role}\n{text}", blocks=blocks, turn=turn)
    known = line.state["said"]
    if known and known.pop(print_of(role, text), None):
        return kind_name("response_item", "message", "repeats an event")
    if kind == "prompt":
        line.thread.prompted(record.uid, record.prompt_id)
        record.prompt_id = record.prompt_id or record.uid
    return record


def print_of(role: str, text: str) -> str:
    """Return a short print of what somebody said, to know it again."""
    return derived_id(role, text)[4:20]


def _contents(payload: dict[str, Any]) -> list[tuple[Block, str]]:
    """Return the blocks of a message with the host's word for each."""
    content = payload.get("content")
    if isinstance(content, str):
        return [(Block("text", content), "")] if content else []
    words = item_kinds(payload)
    found: list[tuple[Block, str]] = []
    for number, item in enumerate(content if isinstance(content, list) else ()):
        word = words[number] if number < len(words) and isinstance(words[number], str) else ""
        if isinstance(item, str):
            found.append((Block("text", item), word))
        elif isinstance(item, dict):
            text = item.get("text")
            if isinstance(text, str):
                found.append((Block("text", text), word))
            elif "image" in text_of(item, "type"):
                found.append((Block("image", images=1), word))
    return found


# ── thoughts ─────────────────────────────────────────────────────────


def _reasoning(line: Line, payload: dict[str, Any]) -> Record | str:
    texts = [text_of(part, "text") for part in (*list_of(payload, "summary"), *list_of(payload, "content"))]
    text = "\n\n".join(part for part in texts if part)
    line.state["mute"] = not text
    if not text:
        return "response_item/reasoning/encrypted"
    return line.record(
        "thought", "assistant", "reasoning", host_id=text_of(payload, "id"), content=text,
        blocks=[Block("thought", text)], turn=line.thread.turn_of(payload),
    )  # fmt: skip


# ── tools ────────────────────────────────────────────────────────────


def _call(line: Line, payload: dict[str, Any], kind: str) -> Record:
    call = read_call(payload, kind)
    block = Block("call", tool=call.tool, tool_id=call.tool_id, input=call.input)
    record = line.record(
        "call", "assistant", kind, host_id=call.tool_id, content=f"{call.tool}\n{call.raw}", blocks=[block],
        turn=line.thread.turn_of(payload),
    )  # fmt: skip
    line.thread.called(call.tool_id, record.uid)
    return record


def _result(line: Line, payload: dict[str, Any], kind: str) -> Record:
    tool_id = text_of(payload, "call_id")
    output = read_output(payload.get("output", payload.get("tools")))
    failed = output.failed or tool_id in line.state["failed"]
    agent = spawned_agent(output.text)
    block = Block(
        "result", output.text, tool_id=tool_id, failed=failed, images=output.images,
        input={"agentId": agent} if agent else None,
    )  # fmt: skip
    record = line.record(
        "result", "tool", kind, host_id=tool_id, content=output.text, blocks=[block], turn=line.thread.turn_of(payload)
    )
    record.source = line.thread.call_of(tool_id)
    return record
