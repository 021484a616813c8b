"""What a record says, as a quote may be taken from it: its parts, and what of them is hidden. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fabula.kernel.values import define, frozen
from fabula.record.reading.arguments import arguments_text
from fabula.record.reading.sentinels import hidden_spans, stub
from fabula.redaction.redact import find, redact

if TYPE_CHECKING:
    from fabula.kernel.records import Block, Record

JOINT = "\n\n"  # between the parts of a record's text

#: ``private``: a person marked it. ``recalled``: a quote of another thread. ``secret``: the rules took it for one.
Hidden = Literal["private", "recalled", "secret"]


@frozen
class HiddenSpan:
    """Characters of a part that are not shown, and why."""

    start: int
    end: int
    why: Hidden


@define
class Part:
    """One block's text. ``offset``: where it begins in the record's text; ``shown``: as it may be shown to anyone."""

    text: str
    offset: int
    shown: str
    hidden: list[HiddenSpan]


def parts_of(record: Record) -> list[Part]:
    """Return the parts of a record's text in order: what is said and thought, calls' arguments, results.

    The text of a record is its parts joined by an empty line. A quote stands in one part.
    """
    parts: list[Part] = []
    offset = 0
    for text in filter(None, map(_text_of, record.blocks)):
        parts.append(Part(text, offset, redact(stub(text)), _hidden(text)))
        offset += len(text) + len(JOINT)
    return parts


def _text_of(block: Block) -> str:
    if block.kind == "call":
        return arguments_text(block.input or {})
    return block.text if block.kind in {"text", "thought", "result"} else ""


def _hidden(text: str) -> list[HiddenSpan]:
    marked = [
        HiddenSpan(start, end, "private" if kind == "private" else "recalled")
        for start, end, kind in hidden_spans(text)
    ]
    return marked + [HiddenSpan(one.start, one.end, "secret") for one in find(text)]
