"""What every importer of prose shares: titles, claims of a bounded length. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.memory.format.gate import LONGEST_CLAIM

if TYPE_CHECKING:
    from collections.abc import Iterable

TITLE_CHARACTERS = 80


def title_of(text: str) -> str:
    """Return a title: the beginning of a text on one line, cut at a word."""
    words = " ".join(text.split()).rstrip(".!?。 ")
    if len(words) <= TITLE_CHARACTERS:
        return words or "Untitled"
    cut = words[: TITLE_CHARACTERS - 1]
    return (cut.rpartition(" ")[0] or cut).rstrip(",;:–-— ") + "…"


def within(claim: str, body: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """Return claim and paragraphs; of a claim that is too long the first line, or its beginning, is the claim."""
    rest = tuple(text for part in body if (text := part.strip()))
    if len(claim) <= LONGEST_CLAIM:
        return claim, rest
    line, _, behind = claim.partition("\n")
    if len(line) > LONGEST_CLAIM:
        line, behind = title_of(line), claim
    return line, tuple(part for part in (behind.strip(), *rest) if part)
