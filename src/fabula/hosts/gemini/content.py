"""What a Gemini message holds: its texts, thoughts, tool calls and their answers, as blocks. Pure."""

from __future__ import annotations

import re
from typing import Any

from fabula.hosts.fields import list_of, mapping_of, text_of
from fabula.kernel.records import Block
from fabula.kernel.values import define

_EXIT_CODE = re.compile(r"^Exit Code: (-?\d+)", re.MULTILINE)
_SHELLS = {"run_shell_command", "run_command", "shell"}
_TAIL = 400  # characters at an output's end in which a shell reports its exit code
_INJECTED = ("<session_context>", "<system-reminder>", "<hook_context>")
_WRAPPED = ("<untrusted_context>\n", "\n</untrusted_context>")  # the client's warning around a tool's output
_SNAPSHOT = "<state_snapshot>"


@define
class ToolUse:
    """A tool call, and its answer once there is one."""

    id: str
    call: Block
    result: Block | None


def texts(content: Any) -> list[str]:
    """Return the texts of a message's content: a text, a part, or a list of parts."""
    if isinstance(content, str):
        return [content] if content else []
    parts = content if isinstance(content, list) else [content]
    found = [part if isinstance(part, str) else text_of(part, "text") for part in parts if not _is_thought(part)]
    return [text for text in found if text]


def pictures(content: Any) -> int:
    """Count the pictures in a message's content."""
    parts = content if isinstance(content, list) else [content]
    kinds = (text_of(mapping_of(part, "inlineData"), "mimeType") for part in parts)
    return sum(kind.startswith("image/") for kind in kinds)


def thoughts(message: dict[str, Any]) -> list[Block]:
    """Return the thoughts of an answer; each has a subject and a description."""
    blocks: list[Block] = []
    for thought in list_of(message, "thoughts"):
        said = [text for text in (text_of(thought, "subject"), text_of(thought, "description")) if text]
        if said:
            blocks.append(Block("thought", "\n".join(said)))
    return blocks


def tool_uses(message: dict[str, Any]) -> list[ToolUse]:
    """Return the tool calls of an answer, in their order, with the answers that they got."""
    uses: list[ToolUse] = []
    for number, entry in enumerate(list_of(message, "toolCalls")):
        if not isinstance(entry, dict):
            continue
        name = text_of(entry, "name")
        tool_id = text_of(entry, "id") or f"{text_of(message, 'id')}:{number}"
        call = Block("call", tool=name, tool_id=tool_id, input=dict(mapping_of(entry, "args")))
        uses.append(ToolUse(tool_id, call, _result(entry, name, tool_id)))
    return uses


def answers(content: Any) -> list[Block]:
    """Return the tool answers that the client sent back under the user's name."""
    blocks: list[Block] = []
    for part in content if isinstance(content, list) else [content]:
        response = mapping_of(part, "functionResponse")
        if response:
            text, failed = _response(response)
            failed = failed or _shell_failed(text_of(response, "name"), text)
            blocks.append(Block("result", text, tool_id=text_of(response, "id"), failed=failed))
    return blocks


def is_injected(text: str) -> bool:
    """Say whether the client wrote a text under the user's name."""
    return text.lstrip().startswith(_INJECTED)


def is_command(text: str) -> bool:
    """Say whether a text is a command to the client itself (``/memory show``), not a path or a question."""
    word = text.split(maxsplit=1)[0] if text.strip() else ""
    return word.startswith("/") and "/" not in word[1:] and len(word) > 1


def is_snapshot(text: str) -> bool:
    """Say whether a text is the summary that took the place of older messages."""
    return text.lstrip().startswith(_SNAPSHOT)


def _is_thought(part: Any) -> bool:
    return isinstance(part, dict) and part.get("thought") is True


def _result(entry: dict[str, Any], name: str, tool_id: str) -> Block | None:
    given = entry.get("result")
    status = text_of(entry, "status")
    if given is None and status not in ("error", "success"):
        return None
    found: list[str] = []
    failed = status == "error"
    for part in given if isinstance(given, list) else [given]:
        if isinstance(part, str):
            found.append(part)
            continue
        response = mapping_of(part, "functionResponse")
        text, refused = _response(response) if response else (text_of(part, "text"), False)
        failed = failed or refused
        if text:
            found.append(text)
    text = "\n".join(found) or _shown(entry)
    agent = text_of(entry, "agentId")
    return Block(
        "result", text, tool_id=tool_id, failed=failed or _shell_failed(name, text),
        images=pictures(given), input={"agentId": agent} if agent else None,
    )  # fmt: skip


def _response(response: dict[str, Any]) -> tuple[str, bool]:
    inner = mapping_of(response, "response")
    error = text_of(inner, "error")
    text = text_of(inner, "output") or text_of(inner, "content") or error
    if text.startswith(_WRAPPED[0]) and text.endswith(_WRAPPED[1]):
        text = text[len(_WRAPPED[0]) : -len(_WRAPPED[1])]
    return text, bool(error)


def _shell_failed(tool: str, text: str) -> bool:
    if tool not in _SHELLS:
        return False
    codes = _EXIT_CODE.findall(text[-_TAIL:])
    return bool(codes) and codes[-1] != "0"


def _shown(entry: dict[str, Any]) -> str:
    display = entry.get("resultDisplay")
    return display if isinstance(display, str) else text_of(display, "fileDiff")
