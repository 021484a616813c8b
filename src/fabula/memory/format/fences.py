"""Fenced code in paragraphs: three or more backticks, a word for the language, the code, as many backticks again."""

from __future__ import annotations

import re
from typing import NamedTuple

_OPENER = re.compile("(`{3,})([^`]*)")
_LANGUAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_+#.-]*")


class Fence(NamedTuple):
    """Fenced code: its text, exactly, and the language its author named (lower case)."""

    code: str
    language: str | None


def parse_fence(paragraph: str) -> Fence | None:
    """Return the code of a paragraph that is one fenced block; ``None`` where it is none, or is not closed."""
    lines = paragraph.strip("\n").split("\n")
    opener = _OPENER.fullmatch(lines[0].strip())
    if opener is None or len(lines) < 2:
        return None
    closer = lines[-1].strip()
    if closer.strip("`") or len(closer) < len(opener[1]):
        return None
    words = opener[2].split()
    language = words[0].lower() if words and _LANGUAGE.fullmatch(words[0]) else None
    return Fence("\n".join(lines[1:-1]), language)


def paragraphs(text: str) -> list[str]:
    """Split a text at blank lines that lie outside of fences; a fence that is not closed runs to the end."""
    found: list[str] = []
    block: list[str] = []
    ticks = 0
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        stripped = line.strip()
        if ticks:
            block.append(line)
            if len(stripped) >= ticks and not stripped.strip("`"):
                ticks = 0
                found.append("\n".join(block))
                block = []
            continue
        opener = _OPENER.fullmatch(stripped)
        if opener is not None or not stripped:
            if block:
                found.append("\n".join(block))
            block = [line] if opener is not None else []
            ticks = len(opener[1]) if opener is not None else 0
        else:
            block.append(line)
    return [*found, "\n".join(block)] if block else found


def claim_and_rest(text: str) -> tuple[str, list[str]]:
    """Split prose into its claim, the first sentence, and the paragraphs after it.

    The claim ends with the first ``.``, ``!`` or ``?`` before white space or the end; without one it is the whole text.
    """
    text = text.strip()
    match = re.match(r".*?[.!?](?=\s|$)", text, re.DOTALL)
    if match is None:
        return text, []
    return match[0].strip(), paragraphs(text[match.end() :])
