"""Content blocks: every known type, and what is none."""

from __future__ import annotations

from typing import Any

import pytest

from fabula.hosts.claude.blocks import read_blocks
from fabula.kernel.records import Block

PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBOR"}}


@pytest.mark.parametrize(
    ("content", "blocks"),
    [
        ("words", [Block("text", "words")]),
        (["words", 7, None], [Block("text", "words")]),
        ([{"type": "redacted_thinking", "data": "x"}], [Block("thought", "")]),
        ([{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}}],
         [Block("call", "", "web_search", "s", {"query": "q"})]),
        ([{"type": "tool_use", "id": 7, "name": None, "input": "text"}], [Block("call")]),
        ([PICTURE], [Block("image")]),
        ([{"type": "document", "title": "Plan", "source": {"type": "text", "data": "step one"}}],
         [Block("document", "Plan\nstep one")]),
        ([{"type": "document", "source": {"type": "base64", "data": "JVBERi0="}}], [Block("document", "")]),
        ([{"type": "hologram", "text": "new"}, {"text": "no type"}, {"type": []}],
         [Block("other", "new"), Block("other", "no type"), Block("other")]),
        (None, []), (7, []), ({"type": "text", "text": "not in a list"}, []),
    ],
)  # fmt: skip
def test_blocks_by_type(content: Any, blocks: list[Block]) -> None:
    assert read_blocks(content) == blocks


@pytest.mark.parametrize(
    ("content", "text", "images"),
    [
        ("out", "out", 0),
        ([{"type": "text", "text": "a"}, PICTURE, {"type": "text", "text": None}, PICTURE], "a", 2),
        ([{"type": "document", "title": "D", "source": None}, "b", 7], "D\nb", 0),
        (None, "", 0),
        ({"text": "odd"}, "", 0),
    ],
)
def test_results_join_their_texts_and_count_their_pictures(content: Any, text: str, images: int) -> None:
    (block,) = read_blocks([{"type": "tool_result", "tool_use_id": "t", "content": content, "is_error": "yes"}])
    assert block == Block("result", text, "", "t", None, failed=False, images=images)
