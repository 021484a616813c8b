"""Which words of a record are searched, and in which column: the pure step from a record to text.

Never searched: signatures, pictures, encoded blobs, private text, recalled text (it is cited instead), a host's
injected notices and snapshots. The vault keeps all of them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fabula.kernel.text import storable
from fabula.kernel.values import define
from fabula.record.reading.sentinels import strip

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabula.kernel.records import Block, Record

RESULT_LIMIT = 32_768  # characters of one tool result that are searched
TEXT_LIMIT = 262_144  # characters of any other text
INPUT_DEPTH = 6  # nesting of a call's arguments that is followed

#: Column of a text block by the kind of its record; a kind that is missing here is not searched.
TEXT_COLUMN = {
    "prompt": "prompt",
    "task": "prompt",
    "reply": "reply",
    "thought": "reply",
    "call": "reply",
    "result": "other",
    "summary": "other",
    "command": "other",
    "attachment": "other",
}

BLOB_CHARACTERS = 200  # a longer run of base64 letters is encoded data
_BLOB = re.compile(f"[A-Za-z0-9+/=_-]{{{BLOB_CHARACTERS},}}")


@define
class Searchable:
    """The text of one record by column, the tools it names and the recalled threads it cites."""

    prompt: str = ""
    reply: str = ""
    call: str = ""
    result: str = ""
    other: str = ""
    tools: tuple[str, ...] = ()
    citations: tuple[str, ...] = ()
    characters: int = 0  # of all columns together
    cut: bool = False  # some text was beyond its limit


def searchable(record: Record) -> Searchable | None:
    """Return what of ``record`` is searched; ``None`` when nothing is."""
    column = TEXT_COLUMN.get(record.kind)
    if column is None or not record.blocks:
        return None
    found = Searchable()
    for block in record.blocks:
        kind = block.kind
        if kind == "text":
            _add(found, column, block.text, TEXT_LIMIT)
        elif kind == "thought":
            _add(found, "reply", block.text, TEXT_LIMIT)
        elif kind == "call":
            found.tools += (block.tool,)
            _add(found, "call", _call_text(block), TEXT_LIMIT)
        elif kind == "result":
            _add(found, "result", block.text, RESULT_LIMIT)
    return found


def _add(found: Searchable, column: str, text: str, limit: int) -> None:
    if len(text) > limit:
        text = text[:limit]
        found.cut = True
    if "<" in text:
        text, citations = strip(text)
        found.citations += citations
    if len(text) >= BLOB_CHARACTERS and _has_blob(text):
        text = _BLOB.sub(" ", text)
    if not text.isascii() or "\0" in text:
        text = storable(text)
    if text:
        before = getattr(found, column)
        setattr(found, column, f"{before}\n{text}" if before else text)
        found.characters += len(text)


def _has_blob(text: str) -> bool:
    """Say whether a word is long enough to be encoded data: leaps from blank to blank, far cheaper than the pattern."""
    start, last = 0, len(text) - BLOB_CHARACTERS
    while start <= last:
        end = start + BLOB_CHARACTERS
        blank = text.rfind(" ", start, end)
        if blank < 0:
            blank = text.rfind("\n", start, end)
            if blank < 0:  # a long word, or blanks of other kinds
                return max(map(len, text.split()), default=0) >= BLOB_CHARACTERS
        start = blank + 1
    return False


def _call_text(block: Block) -> str:
    pieces = [block.tool]
    if block.input:
        _collect(block.input.values(), pieces, INPUT_DEPTH)
    return "\n".join(pieces)


def _collect(values: Iterable[Any], pieces: list[str], depth: int) -> None:
    for item in values:
        if isinstance(item, str):
            pieces.append(item)
        elif depth and isinstance(item, dict | list):
            _collect(item.values() if isinstance(item, dict) else item, pieces, depth - 1)
