"""What Kimi's messages hold, in the shapes that its clients share: parts, calls with their arguments, outputs. Pure."""

from __future__ import annotations

from typing import Any

from fabula.hosts.fields import count_of, list_of, mapping_of, object_in, text_of
from fabula.kernel.records import Block, Usage


def blocks_of(content: Any) -> list[Block]:
    """Return a content, a text or a list of parts, as texts, thoughts and pictures."""
    if isinstance(content, str):
        return [Block("text", content)] if content else []
    blocks: list[Block] = []
    for part in content if isinstance(content, list) else [content]:
        kind = text_of(part, "type")
        if kind == "text" and text_of(part, "text"):
            blocks.append(Block("text", text_of(part, "text")))
        elif kind == "think" and text_of(part, "think"):
            blocks.append(Block("thought", text_of(part, "think")))
        elif kind == "image_url":
            blocks.append(Block("image", images=1))
        elif kind in ("audio_url", "video_url"):
            blocks.append(Block("other"))
    return blocks


def call_block(call: dict[str, Any]) -> Block:
    """Return a call: ``name`` and ``arguments`` stand in it (Kimi Code), or in its ``function`` (kimi-cli)."""
    function = mapping_of(call, "function") or call
    given = function.get("arguments")
    arguments = object_in(given) if isinstance(given, str) else mapping_of(function, "arguments")
    return Block("call", tool=text_of(function, "name"), tool_id=text_of(call, "id"), input=arguments or {})


def result_block(tool_id: str, output: Any, *, failed: bool, agent: str = "") -> Block:
    """Return a result whose output is a text or a list of parts; ``agent`` is the subagent that it tells of."""
    parts = blocks_of(output)
    return Block(
        "result",
        "\n".join(part.text for part in parts if part.text),
        tool_id=tool_id,
        failed=failed,
        images=sum(part.images for part in parts),
        input={"agentId": agent} if agent else None,
    )


def calls_of(message: dict[str, Any]) -> list[Block]:
    """Return the calls of an assistant's message."""
    listed = list_of(message, "toolCalls") or list_of(message, "tool_calls")
    return [call_block(call) for call in listed if isinstance(call, dict)]


def usage_of(tokens: dict[str, Any], response: str, model: str, names: tuple[str, str, str, str]) -> Usage:
    """Read tokens, whose fields for input, output, cache read and cache write have these names."""
    return Usage(response, model, *(count_of(tokens, name) for name in names))
