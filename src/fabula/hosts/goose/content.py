"""The content of a Goose message as blocks: text, thought, call, result. Pure.

Items are ``{"type": …}`` in camel case; a call is ``{id, toolCall: {status, value: {name, arguments}}}``, a result
``{id, toolResult: {status, value: {content, isError, structuredContent}}}``, where older versions had the list of
contents itself as the value, and ``{status: "error", error}`` where there is none.
"""

from __future__ import annotations

from typing import Any

from fabula.hosts.fields import list_of, mapping_of, text_of
from fabula.kernel.records import Block


def read_content(items: list[Any]) -> list[Block]:
    """Return the blocks of a message's content; items that say nothing of their own give none."""
    blocks: list[Block] = []
    for item in items:
        block = _block(item) if isinstance(item, dict) else None
        if block is not None:
            blocks.append(block)
    return blocks


def content_types(items: list[Any]) -> list[str]:
    """Return the types of a content's items, each once, for counting."""
    return sorted({text_of(item, "type") for item in items})


def _block(item: dict[str, Any]) -> Block | None:
    kind = text_of(item, "type")
    if kind == "text":
        return _said("text", text_of(item, "text"))
    if kind in ("thinking", "reasoning"):
        return _said("thought", text_of(item, "thinking") or text_of(item, "text"))
    if kind in ("toolRequest", "frontendToolRequest"):
        return _call(item)
    if kind == "toolResponse":
        return _result(item)
    if kind == "image":
        return Block("image", text_of(item, "mimeType"), images=1)
    if kind == "systemNotification":
        return _said("other", text_of(item, "msg"))
    if kind == "actionRequired":
        return _said("other", text_of(mapping_of(item, "data"), "message"))
    return None


def _said(kind: Any, text: str) -> Block | None:
    return Block(kind, text) if text else None


def _call(item: dict[str, Any]) -> Block:
    asked = mapping_of(item, "toolCall")
    value = mapping_of(asked, "value")
    arguments = dict(mapping_of(value, "arguments"))
    return Block("call", text_of(asked, "error"), text_of(value, "name"), text_of(item, "id"), arguments)


def _result(item: dict[str, Any]) -> Block:
    told = mapping_of(item, "toolResult")
    value = mapping_of(told, "value")
    contents = list_of(value, "content") if value else list_of(told, "value")
    code = mapping_of(value, "structuredContent").get("exit_code")
    failed = text_of(told, "status") == "error" or value.get("isError") is True or (isinstance(code, int) and code != 0)
    texts = list(dict.fromkeys(_text(content) for content in _for_the_model(contents)))
    text = "\n".join(filter(None, texts)) or text_of(told, "error")
    pictures = sum(text_of(content, "type") == "image" for content in contents)
    agent = text_of(mapping_of(value, "_meta"), "subagent_session_id")
    return Block(
        "result", text, tool_id=text_of(item, "id"), failed=failed, images=pictures,
        input={"agentId": agent} if agent else None,
    )  # fmt: skip


def _for_the_model(contents: list[Any]) -> list[Any]:
    """Tools may answer twice, for the person and for the model: what the model read is the record."""
    read = [content for content in contents if _audience(content) != ["user"]]
    return read or contents


def _audience(content: Any) -> list[Any]:
    return list_of(mapping_of(content, "annotations"), "audience")


def _text(content: Any) -> str:
    return text_of(content, "text") or text_of(mapping_of(content, "resource"), "text")
