"""Whether a quote stands verbatim in a record, where it may be shown. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fabula.record.quoting.texts import Hidden, Part


@frozen
class Place:
    """Where a quote stands: the part, and the characters of the record's text."""

    part: int
    start: int
    end: int


def locate(parts: Sequence[Part], quote: str) -> Place | Hidden | None:
    """Return the first place where a quote stands and nothing of it is hidden.

    Else why the first one that there is cannot be quoted; ``None`` when it stands nowhere.
    """
    why: Hidden | None = None
    for number, part in enumerate(parts):
        for start in occurrences(part.text, quote):
            hidden = hidden_by(part, start, start + len(quote))
            if hidden is None and quote in part.shown:
                return Place(number, part.offset + start, part.offset + start + len(quote))
            why = why or hidden or "secret"  # shown nowhere: a rule sees more of it than its own span
    return why


def as_spelled(parts: Sequence[Part], quote: str) -> str:
    """Return a quote as a record spells it, whatever blanks are between its words; as it is where no part has it.

    A citation that was kept in a page of markup comes back with single blanks.
    """
    words = re.compile(r"\s+".join(map(re.escape, quote.split())))
    found = (words.search(part.text) for part in parts) if quote.strip() else ()
    return next((match[0] for match in found if match is not None), quote)


def hidden_by(part: Part, start: int, end: int) -> Hidden | None:
    """Return why characters of a part are not shown; ``None``: they are."""
    return next((span.why for span in part.hidden if span.start < end and start < span.end), None)


def occurrences(text: str, quote: str) -> Iterator[int]:
    """Yield where a quote begins in a text, overlapping ones too; an empty quote stands nowhere."""
    at = text.find(quote) if quote else -1
    while at >= 0:
        yield at
        at = text.find(quote, at + 1)
