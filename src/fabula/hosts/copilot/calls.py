"""Calls, results and attachments of Copilot's events as blocks. Pure; a field of a wrong type is as good as none."""

from __future__ import annotations

import re
from typing import Any

from fabula.hosts.fields import list_of, mapping_of, object_in, text_of
from fabula.kernel.records import Block

#: How older versions told a shell's exit code: at the end of its output.
_EXITED = re.compile(r"<(?:exited|shellId: \S+ completed) with exit code (-?\d+)>\s*\Z")


def call(request: dict[str, Any], name: str) -> Block:
    """Return the call in ``{toolCallId, arguments, <name>}``; a text as arguments becomes ``{"input": text}``."""
    given = request.get("arguments")
    if isinstance(given, str):
        given = object_in(given) or {"input": given}
    arguments = given if isinstance(given, dict) else {}
    return Block("call", tool=text_of(request, name), tool_id=text_of(request, "toolCallId"), input=dict(arguments))


def result(data: dict[str, Any], agent: str) -> Block:
    """Return the result in a ``tool.execution_complete``; ``agent`` is the subagent that the call started, if any."""
    told, error = mapping_of(data, "result"), mapping_of(data, "error")
    text = text_of(told, "content") or text_of(error, "message") or _texts(list_of(told, "contents"))
    return Block(
        "result",
        text,
        tool_id=text_of(data, "toolCallId"),
        failed=data.get("success") is False or exit_code(data, text) not in (0, None),
        images=sum(text_of(item, "type") == "image" for item in list_of(told, "binaryResultsForLlm")),
        input={"agentId": agent} if agent else None,
    )


def exit_code(data: dict[str, Any], text: str) -> int | None:
    """Return a shell's exit code, as the event or the end of its output tells it."""
    code = mapping_of(data, "shellExecution").get("exitCode")
    if isinstance(code, int):
        return code
    told = _EXITED.search(text[-200:])
    return int(told[1]) if told else None


def attachments(data: dict[str, Any]) -> list[Block]:
    """Return what a person attached to a message: files by path, selections with their text, pictures."""
    return [_attachment(item) for item in list_of(data, "attachments") if isinstance(item, dict)]


def _attachment(item: dict[str, Any]) -> Block:
    name = text_of(item, "path") or text_of(item, "filePath") or text_of(item, "displayName") or text_of(item, "url")
    if text_of(item, "mimeType").startswith("image/"):
        return Block("image", name, images=1)
    return Block("document", "\n".join(filter(None, (name or text_of(item, "title"), text_of(item, "text")))))


def _texts(contents: list[Any]) -> str:
    return "\n".join(filter(None, (text_of(item, "text") for item in contents)))
