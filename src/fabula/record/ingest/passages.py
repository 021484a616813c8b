"""Cutting a file's searchable text into passages (the unit of ranking) and a thread's prose (its document)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from fabula.kernel.records import KINDS
from fabula.kernel.values import define, field
from fabula.search.identifiers import expand

if TYPE_CHECKING:
    from fabula.kernel.records import Record
    from fabula.record.ingest.text import Searchable

PASSAGE_CHARACTERS = 1_500
COLUMNS = ("prompt", "reply", "call", "result", "other")
KIND_TOKENS = {kind: f"k{kind}" for kind in KINDS}


@define
class Passage:
    """Consecutive records of one thread and their text by column."""

    thread: int
    session: int
    sidechain: bool
    first: int
    last: int
    first_time: int | None
    last_time: int | None
    characters: int = 0
    prompt: list[str] = field(default_factory=list)
    reply: list[str] = field(default_factory=list)
    call: list[str] = field(default_factory=list)
    result: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    marks: set[str] = field(default_factory=set)  # scope tokens of kinds and tools

    def extend(self, text: Searchable) -> None:
        """Take in the text of one record."""
        if text.prompt:
            self.prompt.append(text.prompt)
        if text.reply:
            self.reply.append(text.reply)
        if text.call:
            self.call.append(text.call)
        if text.result:
            self.result.append(text.result)
        if text.other:
            self.other.append(text.other)
        self.characters += text.characters

    def columns(self) -> tuple[str, str, str, str, str]:
        """Return the text of each column, identifiers expanded."""
        return (
            _joined(self.prompt), _joined(self.reply), _joined(self.call), _joined(self.result), _joined(self.other),
        )  # fmt: skip


def _joined(pieces: list[str]) -> str:
    if not pieces:
        return ""
    text = "\n".join(pieces)
    extra = expand(text)
    return f"{text}\n{extra}" if extra else text


@lru_cache(1_000)
def tool_token(tool: str) -> str:
    """Return the scope token of a tool's name: ``x`` and its letters and digits, lower-case."""
    return "x" + "".join(character for character in tool.lower() if character.isalnum())


class PassageBuilder:
    """Collects records in file order; a passage ends when its thread does or when it is full."""

    def __init__(self) -> None:
        self._open: Passage | None = None
        self.done: list[Passage] = []

    def add(self, record: Record, row: int, thread: int, session: int, text: Searchable) -> None:
        """Add one record's searchable text. ``row`` is its id in the map."""
        passage = self._open
        if (
            passage is None
            or passage.thread != thread
            or passage.sidechain != record.sidechain
            or passage.session != session
            or (record.kind == "prompt" and passage.characters > 0)
        ):
            self.flush()
            passage = Passage(thread, session, record.sidechain, row, row, record.time, record.time)
            self._open = passage
        passage.last = row
        time = record.time
        if time is not None:
            if passage.first_time is None or time < passage.first_time:
                passage.first_time = time
            if passage.last_time is None or time > passage.last_time:
                passage.last_time = time
        passage.extend(text)
        passage.marks.add(KIND_TOKENS[record.kind])
        for tool in text.tools:
            passage.marks.add(tool_token(tool))
        if passage.characters >= PASSAGE_CHARACTERS:
            self.flush()

    def flush(self) -> None:
        """End the passage in hand."""
        if self._open is not None and self._open.characters:
            self.done.append(self._open)
        self._open = None

    def take(self) -> list[Passage]:
        """Return the finished passages and forget them."""
        done, self.done = self.done, []
        return done
