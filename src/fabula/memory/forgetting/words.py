"""Texts that give a forgotten memory away, and taking them out of other texts. Pure."""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING

from fabula.memory.past.subjects import SUBJECT_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterable

INSTEAD = "(forgotten)"
_SHORT = 12  # characters below which a text says too little to be looked for everywhere


class Words:
    """Texts that are looked for, in any of the forms in which files and messages hold them."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = tuple(dict.fromkeys(" ".join(text.split()) for text in texts if text.strip()))
        patterns = sorted({_pattern(form) for text in self.texts for form in _forms(text)}, key=len, reverse=True)
        self._pattern = re.compile("|".join(patterns)) if patterns else None

    def are_in(self, data: bytes) -> bool:
        """Say whether bytes hold one of the texts."""
        return self._pattern is not None and bool(self._pattern.search(data.decode("utf-8", "surrogateescape")))

    def out_of(self, data: bytes) -> bytes:
        """Return bytes with :data:`INSTEAD` in the place of each of the texts."""
        if self._pattern is None:
            return data
        text = data.decode("utf-8", "surrogateescape")
        return self._pattern.sub(INSTEAD, text).encode("utf-8", "surrogateescape")

    def lines_without(self, data: bytes) -> bytes:
        """Return bytes without the lines that hold one of the texts."""
        return b"".join(line for line in data.splitlines(keepends=True) if not self.are_in(line))


def telling(titles: Iterable[str], claims: Iterable[str], paths: Iterable[str]) -> list[str]:
    """Return the texts that give memories away: what they say, whole and as subjects cut it, and their paths."""
    found = [*paths]
    for text in (*titles, *claims):
        line = " ".join(text.split())
        found.append(line)
        if len(line) > SUBJECT_LIMIT:
            found.append(line[: SUBJECT_LIMIT - 1].rstrip())
    return [text for text in dict.fromkeys(found) if text]


def long_enough(texts: Iterable[str]) -> list[str]:
    """Return the texts that are worth looking for where nothing else says that they are meant."""
    return [text for text in texts if len(text) >= _SHORT]


def _forms(text: str) -> list[str]:
    quoted = json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]
    return [text, html.escape(text, quote=False), html.escape(text), *quoted]


def _pattern(form: str) -> str:
    return r"\s+".join(re.escape(word) for word in form.split())
