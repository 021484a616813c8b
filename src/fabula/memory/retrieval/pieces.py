"""What of a memory is embedded: its title and claim, and its body in pieces. Pure."""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 900  # characters of a piece: the mean of more words means everything a little
MOST: Final = 24  # pieces of one memory
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+")


def pieces_of(title: str, claim: str, body: str) -> list[str]:
    """Return the texts that are embedded: title and claim, then the body by sentences, up to :data:`LONGEST` each.

    The claim is taken out of the body. Sentences that are longer are cut.
    """
    rest = body.replace(claim, " ", 1) if claim else body
    pieces = [f"{title}. {claim}"]
    current = ""
    for sentence in _SENTENCE.split(rest.strip()):
        for part in (sentence[at : at + LONGEST] for at in range(0, len(sentence), LONGEST)):
            if current and len(current) + 1 + len(part) > LONGEST:
                pieces.append(current)
                current = part
            else:
                current = f"{current} {part}" if current else part
    if any(map(str.isalnum, current)):
        pieces.append(current)
    return pieces[:MOST]
