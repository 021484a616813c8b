"""The parts of OpenCode messages as blocks: text, thought, tool call with its result, file. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.hosts.fields import list_of, mapping_of, text_of
from fabula.kernel.records import Block
from fabula.kernel.values import define, field

if TYPE_CHECKING:
    from fabula.kernel.records import Kind


@define
class Part:
    """What a part is to a reader."""

    kind: Kind
    blocks: list[Block] = field(default_factory=list)


def read_part(data: dict[str, Any], role: str, *, summary: bool, subagent: bool) -> Part | None:
    """Read a part of a message by ``role``; ``None`` when it says nothing of its own."""
    kind = text_of(data, "type")
    if kind == "text":
        return _text(data, role, summary=summary, subagent=subagent)
    if kind == "reasoning":
        text = text_of(data, "text")
        return Part("thought", [Block("thought", text)]) if text else None
    if kind == "tool":
        return Part("call", _tool(data))
    if kind == "file":
        return Part("attachment", [_file(data)])
    if kind == "compaction":
        return Part("boundary")
    if kind == "subtask":
        text = "\n".join(filter(None, (text_of(data, "description"), text_of(data, "prompt"))))
        return Part("command", [Block("text", text)])
    if kind == "retry":
        return Part("system", [Block("text", error_text(mapping_of(data, "error")))])
    return None


def _text(data: dict[str, Any], role: str, *, summary: bool, subagent: bool) -> Part | None:
    text = text_of(data, "text")
    if not text:
        return None
    if data.get("synthetic") is True or data.get("ignored") is True:
        kind: Kind = "notice"
    elif summary:
        kind = "summary"
    elif role == "user":
        kind = "task" if subagent else "prompt"
    else:
        kind = "reply"
    return Part(kind, [Block("text", text)])


def _tool(data: dict[str, Any]) -> list[Block]:
    state = mapping_of(data, "state")
    tool_id = text_of(data, "callID") or text_of(data, "id")
    blocks = [Block("call", tool=text_of(data, "tool"), tool_id=tool_id, input=dict(mapping_of(state, "input")))]
    status = text_of(state, "status")
    if status not in ("completed", "error"):
        return blocks
    metadata = mapping_of(state, "metadata")
    code = metadata.get("exit")
    failed = status == "error" or (isinstance(code, int) and code != 0)
    text = text_of(state, "output") or text_of(state, "error")
    agent = text_of(metadata, "sessionId") or text_of(metadata, "sessionID")
    pictures = sum("image" in text_of(item, "mime") for item in list_of(state, "attachments"))
    blocks.append(
        Block(
            "result", text, tool_id=tool_id, failed=failed, images=pictures, input={"agentId": agent} if agent else None
        )
    )
    return blocks


def _file(data: dict[str, Any]) -> Block:
    name = text_of(data, "filename") or text_of(mapping_of(data, "source"), "path")
    mime = text_of(data, "mime")
    text = text_of(mapping_of(mapping_of(data, "source"), "text"), "value")
    if mime.startswith("image/"):
        return Block("image", name, images=1)
    return Block("document", "\n".join(filter(None, (name, text))))


def error_text(error: dict[str, Any]) -> str:
    """Return what an error of the host says."""
    return text_of(mapping_of(error, "data"), "message") or text_of(error, "message") or text_of(error, "name")
