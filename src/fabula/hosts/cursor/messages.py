"""The messages of a Cursor chat as blocks: what a person said, thoughts, calls, results. Pure.

A message is ``{role, content, id?, providerOptions?: {cursor: …}}``; ``content`` is a text or a list of parts:
``text``, ``reasoning``, ``redacted-reasoning``, ``tool-call {toolCallId, toolName, args}``, ``tool-result {toolCallId,
toolName, result, experimental_content?}`` (source: ``@cursor/sdk`` 1.0.18); how texts are wrapped, and what stands in
``providerOptions``, is [observed].
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fabula.hosts.fields import list_of, mapping_of, object_in, text_of
from fabula.kernel.records import Block

if TYPE_CHECKING:
    from fabula.kernel.records import Kind

_QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)
_INJECTED = re.compile(r"\s*<([a-z_]+)[ >].*</\1>\s*\Z", re.DOTALL)  # one element, with nothing around it
#: How a shell's result is wrapped: exit code, then the output in a fence, then what holds for the next call.
_SHELL = re.compile(r"\s*Exit code: (-?\d+)\s*(?:Command output:\s*```[^\n]*\n(.*)```)?", re.DOTALL)
_SHELLS = ("Shell", "run_terminal_cmd")


def options_of(message: dict[str, Any]) -> dict[str, Any]:
    """Return what Cursor notes beside a message."""
    return mapping_of(mapping_of(message, "providerOptions"), "cursor")


def parts_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of a message; a text is one part."""
    text = text_of(message, "content")
    if text:
        return [{"type": "text", "text": text}]
    return [part for part in list_of(message, "content") if isinstance(part, dict)]


def user_blocks(parts: list[dict[str, Any]]) -> tuple[Kind, list[Block]]:
    """Tell what a person typed from what the client put around it: blocks of kind ``other``."""
    typed: list[Block] = []
    around: list[Block] = []
    for part in parts:
        text = text_of(part, "text")
        queries = _QUERY.findall(text)
        if queries:
            typed += [Block("text", query) for query in queries if query]
            around.append(Block("other", _QUERY.sub("", text).strip()))
        elif _INJECTED.match(text):
            around.append(Block("other", text.strip()))
        elif text:
            typed.append(Block("text", text))
        elif text_of(part, "type") in ("image", "file"):
            typed.append(Block("image", text_of(part, "mimeType"), images=1))
    around = [block for block in around if block.text]
    if typed:
        return "prompt", [*typed, *around]
    return "notice", [Block("text", block.text) for block in around]


def assistant_blocks(parts: list[dict[str, Any]]) -> tuple[Kind, list[Block]]:
    """Return an answer: its thoughts, texts and calls."""
    blocks: list[Block] = []
    for part in parts:
        kind, text = text_of(part, "type"), text_of(part, "text")
        if kind == "tool-call":
            given = part.get("args")
            arguments = object_in(given) if isinstance(given, str) else given
            arguments = arguments if isinstance(arguments, dict) else {"input": given} if given else {}
            blocks.append(Block("call", "", text_of(part, "toolName"), text_of(part, "toolCallId"), dict(arguments)))
        elif text:
            blocks.append(Block("thought" if kind == "reasoning" else "text", text))
    kinds = {block.kind for block in blocks}
    return "call" if "call" in kinds else "reply" if "text" in kinds else "thought", blocks


def result_blocks(message: dict[str, Any], parts: list[dict[str, Any]]) -> list[Block]:
    """Return results; ``failed`` by what Cursor noted, or by the exit code at the beginning of a shell's output."""
    noted = mapping_of(options_of(message), "highLevelToolCallResult")
    output = mapping_of(noted, "output")
    agent = text_of(mapping_of(output, "success"), "agentId")
    refused = noted.get("isError") is True or output.get("isError") is True
    blocks = []
    for part in parts:
        if text_of(part, "type") != "tool-result":
            continue
        text, failed = _result_text(part), refused or part.get("isError") is True
        shell = _SHELL.match(text) if text_of(part, "toolName") in _SHELLS else None
        if shell is not None:
            text = text if shell[2] is None else shell[2].rstrip("\n")
            failed = failed or int(shell[1]) != 0
        blocks.append(
            Block(
                "result",
                text,
                tool_id=text_of(part, "toolCallId"),
                failed=failed,
                images=_pictures(part),
                input={"agentId": agent} if agent else None,
            )
        )
    return blocks


def _result_text(part: dict[str, Any]) -> str:
    for key in ("result", "experimental_content"):
        text = text_of(part, key) or "\n".join(filter(None, (text_of(item, "text") for item in list_of(part, key))))
        if text:
            return text
    return ""


def _pictures(part: dict[str, Any]) -> int:
    return sum(text_of(item, "type") == "image" for item in list_of(part, "experimental_content"))
