"""One pack of what memory and record say about a question, within one budget. Pure.

Memories come first, the best first; then what the record says word for word. Each says where it is from, so that a
reader can look there and cite it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

MEMORY_SHARE: Final = 0.6  # of a budget, when the record has something to say too
PASSAGE_CHARACTERS: Final = 1_400
PASSAGE_LEAST: Final = 200  # characters of a passage; a shorter one tells nothing
PASSAGES_MOST: Final = 8


@frozen
class Piece:
    """One thing that may be handed out: its source in a line, and its text; ``ref`` is a path or a thread's id.

    ``place``: the characters (start, end) of the text that matter most; what is cut is cut around them.
    """

    ref: str
    source: str
    text: str
    place: tuple[int, int] = (0, 0)

    @property
    def shown(self) -> str:
        """The piece as a reader sees it."""
        return f"{self.source}\n{self.text}" if self.text else self.source


@frozen
class Pack:
    """What fitted, in its order, as one text (not wrapped yet)."""

    text: str
    memories: tuple[Piece, ...]
    passages: tuple[Piece, ...]


def packed(heading: str, memories: Sequence[Piece], passages: Sequence[Piece], room: int) -> Pack:
    """Put into ``room`` characters what fits; of ``passages`` what stands around their places.

    Memories have :data:`MEMORY_SHARE` of the room, and what the record leaves of the rest.
    """
    room -= len(heading)
    wanted = [len(one.source) + min(len(one.text), PASSAGE_CHARACTERS) + 2 for one in passages]
    reserved = min(int(room * (1 - MEMORY_SHARE)), sum(wanted)) if memories else room
    first = _fitting(memories, room - reserved)
    rest = room - sum(_cost(one.shown) for one in first)
    second = _cut(passages, rest)
    parts = [heading, *(one.shown for one in first), *(one.shown for one in second)]
    return Pack("\n\n".join(parts), tuple(first), tuple(second))


def _cost(text: str) -> int:
    return len(text) + 2  # the empty line before it


def _fitting(pieces: Sequence[Piece], room: int) -> list[Piece]:
    """Return the pieces that fit, in order; one that is too long becomes its source alone."""
    found = []
    for piece in pieces:
        for one in (piece, Piece(piece.ref, piece.source, "")):
            if _cost(one.shown) <= room:
                found.append(one)
                room -= _cost(one.shown)
                break
    return found


def _cut(passages: Sequence[Piece], room: int) -> list[Piece]:
    """Return as many passages as have room to say something, the best first, longer ones cut to what is there."""
    found: list[Piece] = []
    for number, piece in enumerate(passages):
        later = min(len(passages), PASSAGES_MOST) - number - 1
        head = len(piece.source) + 3
        share = max(PASSAGE_LEAST, (room - head) * 2 // (2 + later))
        text = cited(piece, min(share, room - head, PASSAGE_CHARACTERS))
        if len(found) == PASSAGES_MOST or not text:
            break
        found.append(Piece(piece.ref, piece.source, text))
        room -= _cost(found[-1].shown)
    return found


def cited(piece: Piece, most: int) -> str:
    """Return what stands around a piece's place, marked line by line as a quote, in at most ``most`` characters.

    Empty when nothing sensible fits.
    """
    width = min(most, len(piece.text) + 2)
    while width >= min(PASSAGE_LEAST // 2, len(piece.text)) and width > 0:
        said = "\n".join(f"> {line}".rstrip() for line in window(piece.text, *piece.place, width).splitlines())
        if len(said) <= most:
            return said
        width -= max(len(said) - most, 1)
    return ""


def window(text: str, start: int, end: int, width: int = PASSAGE_CHARACTERS) -> str:
    """Return about ``width`` characters around a place, as they stand there; ``…`` where the text goes on.

    Of a place that is longer the beginning is shown.
    """
    end = min(end, start + width)
    before = max(0, (width - (end - start)) // 3)
    begin = _at_word(text, max(0, start - before), start)
    finish = min(len(text), max(end, begin + width))
    if finish < len(text):
        cut = max(text.rfind(" ", end, finish), text.rfind("\n", end, finish))
        finish = cut if cut > 0 else finish
    said = text[begin:finish].strip("\n")
    return ("…" if begin > 0 else "") + said + ("…" if finish < len(text.rstrip()) else "")


def _at_word(text: str, begin: int, start: int) -> int:
    """Move a beginning to the next line that begins before ``start``, else to the next word."""
    if begin == 0:
        return 0
    line = text.find("\n", begin, start)
    if line >= 0:
        return line + 1
    blank = text.find(" ", begin, start)
    return blank + 1 if blank >= 0 else begin
