"""The reference count: what the objects of a file of JSON lines are, by the standard library alone.

Each line (split at the line feed, decoded with surrogates for bad bytes) is read by ``raw_decode`` repeatedly. Every
JSON value is an object; after an error the rest of the line is searched for the next ``{``, and what is found
there counts twice: as objects and as recovered.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

_DECODER = json.JSONDecoder()
_BLANK = re.compile(r"[ \t\r\n]*")


def reference_count(path: str) -> tuple[int, int]:
    """Return (objects, recovered) of a file; a last line that is no whole value waits and counts nothing."""
    objects = recovered = 0
    data = Path(path).read_bytes()
    lines = data.split(b"\n")
    for number, line in enumerate(lines):
        last = number == len(lines) - 1
        found, rescued = count_line(line.decode("utf-8", "surrogateescape"), waits=last)
        objects += found
        recovered += rescued
    return objects, recovered


def count_line(text: str, *, waits: bool) -> tuple[int, int]:
    """Return (objects, recovered) of one line."""
    objects = recovered = position = 0
    failed = False
    while True:
        blank = _BLANK.match(text, position)
        position = blank.end() if blank else position
        if position >= len(text):
            return objects, recovered
        try:
            _, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            if waits:
                return 0, 0
            failed = True
            position = text.find("{", position + 1)
            if position < 0:
                return objects, recovered
            continue
        objects += 1
        recovered += failed
