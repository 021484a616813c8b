"""The bytes of a file, their text as HTML sees it, and the way back from a place in the text to a byte.

HTML knows one line end and no bytes that are not UTF-8: so the text has no carriage returns, no byte order mark, and
U+FFFD where a browser would show it. Every place in it leads back to its byte all the same.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_left, bisect_right
from typing import NamedTuple

_BOM = b"\xef\xbb\xbf"
_REPLACEMENT = "\ufffd"
_REPLACEMENT_BYTES = 3
_MEASURED = "fabula-measured"
_BAD = re.compile("[\udc01-\udc04]")


def _measure(error: UnicodeError) -> tuple[str, int]:
    """Put a lone surrogate, which no UTF-8 gives, for bytes that are none; it says how many they are."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return chr(0xDC00 + error.end - error.start), error.end


codecs.register_error(_MEASURED, _measure)


class Place(NamedTuple):
    """Where something is: line and column count characters from 1, the byte from 0."""

    line: int
    column: int
    byte: int


class Source:
    """The bytes of one file and their text."""

    __slots__ = ("_bad", "_folded", "_lines", "_shift", "data", "text")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._shift = len(_BOM) if data.startswith(_BOM) else 0
        text = data.decode("utf-8", _MEASURED)
        if self._shift:
            text = text[1:]
        self._folded: list[int] | None = None
        self._lines: list[int] | None = None  # where each line begins
        self._bad: list[tuple[int, int]] | None = None  # (place among characters, bytes)
        if not text.isascii() and _BAD.search(text):
            self._bad = [(match.start(), ord(match[0]) - 0xDC00) for match in _BAD.finditer(text)]
            text = _BAD.sub(_REPLACEMENT, text)
        if "\r" in text:
            # a place in the text counts one less for every pair before it
            self._folded = [match.start() - before for before, match in enumerate(re.finditer("\r\n", text))]
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.text = text

    @property
    def newline(self) -> str:
        """The line end of the file: the one it uses first."""
        first = self.text.find("\n")
        return "\r\n" if self._folded and self._folded[0] == first else "\n"

    def byte(self, at: int) -> int:
        """Return the offset of the byte that stands at a place in the text."""
        pairs = bisect_left(self._folded, at) if self._folded else 0
        before = at if self.text.isascii() else len(self.text[:at].encode("utf-8"))
        if self._bad:
            bad = self._bad[: bisect_left(self._bad, (at + pairs, 0))]
            before += sum(count - _REPLACEMENT_BYTES for _, count in bad)
        return before + self._shift + pairs

    def place(self, at: int) -> Place:
        """Return the line, the column and the byte of a place in the text."""
        if self._lines is None:
            self._lines = [0, *(match.end() for match in re.finditer("\n", self.text))]
        line = bisect_right(self._lines, at)
        return Place(line, at - self._lines[line - 1] + 1, self.byte(at))

    def first_bad_byte(self) -> int | None:
        """Return the place in the text of the first byte that is not UTF-8, ``None`` where all are."""
        if not self._bad:
            return None
        at = self._bad[0][0]
        return at - sum(folded + before < at for before, folded in enumerate(self._folded or ()))
