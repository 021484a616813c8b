"""The common lines of a transcript as typed values: prompts, results, replies, thoughts, calls and progress.

A first index decodes nearly all lines into these. What no reader asks for, such as the copies of whole files in
``toolUseResult``, is skipped while decoding instead of being built and thrown away, and a field that has a type here
need not be checked again. Any other line (another type of record or block, a field of another type) is decoded as a
plain mapping and read by ``hosts.claude.normalise``; where both can read a line they give the same record.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from fabula.hosts.claude.seams import COPY, SEAM
from fabula.kernel.records import SLIMMED_KEY

if TYPE_CHECKING:
    from collections.abc import Callable


class Part(msgspec.Struct, gc=False):
    """A block of a message's content."""

    type: str
    text: str | None = None
    thinking: str | None = None
    name: str | None = None
    id: str | None = None
    input: Any = None
    tool_use_id: str | None = None
    content: Any = None
    is_error: Any = None


class Tokens(msgspec.Struct, gc=False):
    """What a response is billed for."""

    input_tokens: Any = None
    output_tokens: Any = None
    cache_read_input_tokens: Any = None
    cache_creation_input_tokens: Any = None


class Message(msgspec.Struct, gc=False):
    """What was said, as the model's interface has it."""

    content: str | list[Part] | None = None
    id: str | None = None
    model: str | None = None
    usage: Tokens | None = None


class Outcome(msgspec.Struct, gc=False, rename="camel"):
    """What the host notes of a tool's result beside its text."""

    agent_id: Any = None
    persisted_output_path: Any = None


class Line(msgspec.Struct, gc=False, rename="camel"):
    """One record of a person, of the assistant or of a tool's progress; the names are the host's, in our spelling."""

    type: str
    uuid: str | None = None
    parent_uuid: str | None = None
    session_id: str | None = None
    timestamp: Any = None
    cwd: str | None = None
    git_branch: str | None = None
    entrypoint: str | None = None
    is_sidechain: Any = None
    forked_from: Any = None
    message: Message | None = None
    request_id: str | None = None
    is_api_error_message: Any = None
    prompt_id: str | None = None
    prompt_source: Any = None
    source_tool: str | None = msgspec.field(default=None, name="sourceToolAssistantUUID")
    tool_use_result: Outcome | str | int | float | bool | list[Any] | None = None
    is_meta: Any = None
    is_compact_summary: Any = None
    interrupted_message_id: Any = None
    origin: Any = None
    slimmed: Any = msgspec.field(default=msgspec.UNSET, name=SLIMMED_KEY)
    seam: Any = msgspec.field(default=msgspec.UNSET, name=SEAM)
    copied: Any = msgspec.field(default=msgspec.UNSET, name=COPY)


_TYPES = frozenset(("assistant", "user", "progress"))
_PARTS = frozenset(("text", "thinking", "tool_use", "tool_result", "image"))


class LineDecoder:
    """Decodes into :class:`Line` (``record.sources.TypedLines``)."""

    type = Line
    decode_lines: Callable[[bytes | memoryview], list[Line]]

    def __init__(self) -> None:
        self.decode_lines = msgspec.json.Decoder(Line).decode_lines

    @staticmethod
    def holds_all(line: Line) -> bool:
        """Say whether a line has all that is to be read of it; what other types hold was skipped."""
        if line.type not in _TYPES or not line.uuid:
            return False
        if not (line.slimmed is line.seam is line.copied is msgspec.UNSET):
            return False  # we wrote it ourselves
        if line.message is None or line.type == "progress":
            return line.type == "progress"
        content = line.message.content
        if isinstance(content, list):
            return _PARTS.issuperset([part.type for part in content])
        return content is not None


@cache
def line_decoder() -> LineDecoder:
    """Return the decoder, made once a process."""
    return LineDecoder()
