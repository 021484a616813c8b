"""A message of Pi as blocks. Pure. Shapes: Pi's own docs, ``message-types.md`` of version 1.6."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.hosts.fields import count_of, list_of, mapping_of, text_of
from fabula.kernel.records import Block, Usage
from fabula.kernel.values import define

if TYPE_CHECKING:
    from fabula.kernel.records import Kind


@define
class Message:
    """What a message is to a reader; ``answers`` is the id of the call that it answers."""

    kind: Kind
    role: str
    blocks: list[Block]
    answers: str = ""


def read_message(message: dict[str, Any], identity: str) -> Message | None:
    """Read a message by its role; ``None`` for one that nobody says (the prompt of the system, an unknown role)."""
    role = text_of(message, "role")
    if role == "user":
        return Message("prompt", "user", said(message.get("content")))
    if role == "assistant":
        return _answer(message)
    if role == "toolResult":
        return _result(message)
    if role == "bashExecution":
        return _execution(message, identity)
    if role in ("custom", "hookMessage"):
        return Message("notice", "user", said(message.get("content")))
    if role in ("branchSummary", "compactionSummary"):
        return Message("summary", "user", [Block("text", text_of(message, "summary"))])
    return None


def said(content: Any) -> list[Block]:
    """Return the texts and pictures of a content: a text, or a list of parts."""
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    blocks: list[Block] = []
    for part in parts:
        if text_of(part, "type") == "image":
            blocks.append(Block("image", images=1))
        elif text_of(part, "text"):
            blocks.append(Block("text", text_of(part, "text")))
    return blocks


def usage_of(value: dict[str, Any], response: str, model: str) -> Usage | None:
    """Return what a message, a summary or an operation was billed; reasoning is part of the output."""
    usage = mapping_of(value, "usage")
    found = Usage(
        response,
        model,
        count_of(usage, "input"),
        count_of(usage, "output"),
        count_of(usage, "cacheRead"),
        count_of(usage, "cacheWrite"),
    )
    return found if found.input or found.output or found.cache_read or found.cache_write else None


def _answer(message: dict[str, Any]) -> Message:
    blocks: list[Block] = []
    for part in list_of(message, "content"):
        kind = text_of(part, "type")
        if kind == "text" and text_of(part, "text"):
            blocks.append(Block("text", text_of(part, "text")))
        elif kind == "thinking" and text_of(part, "thinking"):
            blocks.append(Block("thought", text_of(part, "thinking")))
        elif kind == "toolCall":
            given = dict(mapping_of(part, "arguments"))
            blocks.append(Block("call", tool=text_of(part, "name"), tool_id=text_of(part, "id"), input=given))
    kinds = {block.kind for block in blocks}
    error = text_of(message, "errorMessage")
    if not blocks and error:
        return Message("system", "system", [Block("text", error)])
    kind_of: Kind = "call" if "call" in kinds else "thought" if kinds == {"thought"} else "reply"
    return Message(kind_of, "assistant", [*blocks, *([Block("text", error)] if error else [])])


def _result(message: dict[str, Any]) -> Message:
    parts = said(message.get("content"))
    block = Block(
        "result",
        "\n".join(part.text for part in parts if part.kind == "text"),
        tool_id=text_of(message, "toolCallId"),
        failed=message.get("isError") is True,
        images=sum(part.images for part in parts),
    )
    return Message("result", "tool", [block], block.tool_id)


def _execution(message: dict[str, Any], identity: str) -> Message:
    """A command that the person ran: a call and its result in one."""
    code = message.get("exitCode")
    failed = (isinstance(code, int) and code != 0) or message.get("cancelled") is True
    call = Block("call", tool="bash", tool_id=identity, input={"command": text_of(message, "command")})
    result = Block("result", text_of(message, "output"), tool_id=identity, failed=failed)
    return Message("call", "user", [call, result])
