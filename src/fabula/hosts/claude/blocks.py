"""The blocks of a message's content, as values of the kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.hosts.claude.fields import dict_of, text_of
from fabula.kernel.records import Block

if TYPE_CHECKING:
    from collections.abc import Callable

    from fabula.hosts.claude.lines import Part


def read_blocks(content: object) -> list[Block]:
    """Read a message's content: text, or a list of blocks. What is neither gives no blocks."""
    if isinstance(content, str):
        return [Block("text", content)]
    if not isinstance(content, list):
        return []
    blocks = []
    for part in content:
        if isinstance(part, dict):
            kind = part.get("type")
            reader = _READERS.get(kind) if isinstance(kind, str) else None
            blocks.append(reader(part) if reader else Block("other", text_of(part.get("text"))))
        elif isinstance(part, str):
            blocks.append(Block("text", part))
    return blocks


def typed_blocks(content: str | list[Part] | None) -> list[Block]:
    """Read typed content: its parts are of the types in :data:`_TYPED_READERS`."""
    if isinstance(content, list):
        return [_TYPED_READERS[part.type](part) for part in content]
    return [Block("text", content or "")]


def _typed_call(part: Part) -> Block:
    return Block("call", "", part.name or "", part.id or "", part.input if isinstance(part.input, dict) else None)


def _typed_result(part: Part) -> Block:
    content = part.content
    text, images = (content, 0) if isinstance(content, str) else _result_parts(content)
    return Block("result", text, "", part.tool_use_id or "", None, part.is_error is True, images)


def _text(part: dict[str, Any]) -> Block:
    text = part.get("text")
    return Block("text", text if isinstance(text, str) else "")


def _thought(part: dict[str, Any]) -> Block:
    return Block("thought", text_of(part.get("thinking")))


def _call(part: dict[str, Any]) -> Block:
    given = part.get("input")
    return Block(
        "call", "", text_of(part.get("name")), text_of(part.get("id")), given if isinstance(given, dict) else None
    )


def _result(part: dict[str, Any]) -> Block:
    content = part.get("content")
    text, images = (content, 0) if isinstance(content, str) else _result_parts(content)
    return Block("result", text, "", text_of(part.get("tool_use_id")), None, part.get("is_error") is True, images)


def _result_parts(content: object) -> tuple[str, int]:
    """Join the texts of a result's parts with line feeds and count its pictures."""
    texts, images = [], 0
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            kind = part.get("type")
            if kind == "image":
                images += 1
            elif kind == "document":
                texts.append(_document_text(part))
            else:
                texts.append(text_of(part.get("text")) or text_of(part.get("tool_name")))
    return "\n".join(text for text in texts if text), images


def _document(part: dict[str, Any]) -> Block:
    return Block("document", _document_text(part))


def _document_text(part: dict[str, Any]) -> str:
    """A document's title, and its text where it is one (never the base64 form)."""
    source = dict_of(part.get("source"))
    body = text_of(source.get("data")) if source.get("type") == "text" else ""
    return "\n".join(text for text in (text_of(part.get("title")), body) if text)


def _image(_: dict[str, Any]) -> Block:
    return Block("image")


_READERS: dict[str, Callable[[dict[str, Any]], Block]] = {
    "text": _text,
    "thinking": _thought,
    "redacted_thinking": _thought,
    "tool_use": _call,
    "server_tool_use": _call,
    "mcp_tool_use": _call,
    "tool_result": _result,
    "web_search_tool_result": _result,
    "mcp_tool_result": _result,
    "image": _image,
    "document": _document,
}

_TYPED_READERS: dict[str, Callable[[Part], Block]] = {
    "text": lambda part: Block("text", part.text or ""),
    "thinking": lambda part: Block("thought", part.thinking or ""),
    "tool_use": _typed_call,
    "tool_result": _typed_result,
    "image": lambda _: Block("image"),
}
