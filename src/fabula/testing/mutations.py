"""Malformed transcripts out of good ones: each mutation damages some lines and tells which lines it left alone.

Reproducible: everything depends on the ``random.Random`` that is passed in.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

_UUID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_BAD_BYTES = (b"\xff", b"\xc3(", b"\x80", b"\xed\xa0\x80", b"\xf0\x9f", b"\x00")
_STRANGE: tuple[Any, ...] = (None, [], {}, 7, "", True, [[]], {"text": None}, 1e308, "\ud800", ["a", {"b": []}], -1)


@dataclass(slots=True)
class Line:
    """A line without its line feed. ``whole`` lines hold exactly the values that they held before."""

    data: bytes
    whole: bool = True


def reseeded(data: bytes, seed: int) -> bytes:
    """Return a transcript in which every UUID is another one, the same one everywhere: a copy that shares no record."""

    def other(match: re.Match[bytes]) -> bytes:
        digits = sha256(b"%d/%s" % (seed, match[0])).hexdigest()
        text = f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:32]}"
        return text.encode()

    return _UUID.sub(other, data)


def mutated(data: bytes, random: Random, *, rounds: int = 3) -> tuple[bytes, list[bytes]]:
    """Return damaged JSON lines, and the lines of ``data`` that a reader must still find whole."""
    lines = [Line(line) for line in data.split(b"\n") if line]
    for _ in range(random.randint(1, rounds)):
        random.choice(MUTATIONS)(lines, random)
    text = b"\n".join(line.data for line in lines)
    text, kept = _ending(text, lines, random)
    return text, [line.data for line in kept if line.whole]


def _ending(text: bytes, lines: list[Line], random: Random) -> tuple[bytes, list[Line]]:
    """End the file with a line feed, without one, or in the middle of its last line."""
    choice = random.randrange(4)
    if choice == 0 and lines and len(lines[-1].data) > 2:
        cut = random.randrange(1, len(lines[-1].data) - 1)
        return text[:-cut], lines[:-1]
    if choice == 1:
        return text, lines
    return text + b"\n", lines


def _pick(lines: list[Line], random: Random) -> int:
    return random.randrange(len(lines)) if lines else -1


def _spoil(lines: list[Line], random: Random, change: Callable[[bytes, int], bytes]) -> None:
    """Replace one line by what ``change`` makes of it and of a position in it."""
    at = _pick(lines, random)
    if at >= 0 and lines[at].data:
        old = lines[at].data
        parts = change(old, random.randrange(len(old))).split(b"\n")
        lines[at : at + 1] = [Line(part, whole=False) for part in parts]


def flip_bit(lines: list[Line], random: Random) -> None:
    """Flip one bit."""
    bit = 1 << random.randrange(8)
    _spoil(lines, random, lambda old, at: old[:at] + bytes([old[at] ^ bit]) + old[at + 1 :])


def cut_out(lines: list[Line], random: Random) -> None:
    """Remove some bytes."""
    length = random.choice([1, 10, 200, 5000])
    _spoil(lines, random, lambda old, at: old[:at] + old[at + length :])


def put_in(lines: list[Line], random: Random) -> None:
    """Insert bytes that are no valid text, or random ones."""
    extra = random.choice([random.choice(_BAD_BYTES), random.randbytes(random.choice([1, 30, 3000]))])
    _spoil(lines, random, lambda old, at: old[:at] + extra + old[at:])


def split_line(lines: list[Line], random: Random) -> None:
    """Break a line in two."""
    _spoil(lines, random, lambda old, at: old[:at] + b"\n" + old[at:])


def join_lines(lines: list[Line], random: Random) -> None:
    """Put two lines on one, as writers do that do not wait for each other; both values stay whole."""
    at = _pick(lines, random)
    if 0 <= at < len(lines) - 1 and lines[at].whole and lines[at + 1].whole:
        blank = random.choice([b"", b" ", b"\t"])
        first, second = lines[at].data, lines[at + 1].data
        lines[at : at + 2] = [Line(first + blank + second)]


def foreign_line(lines: list[Line], random: Random) -> None:
    """Insert a line that is no object, or not JSON at all."""
    strange = [
        *(b"[]", b'"s"', b"7", b"null", b"true", b"NaN", b"-Infinity", b"1e999", b"{}", b"{", b"}", b"   ", b"\r"),
        *(b"\x00" * 64, b"[" * 5000, b'{"a":' * 3000, b"\xef\xbb\xbf{}", b'{"type":"\\ud800"}', b'{"uuid":""}'),
        *(b'{"type":"user","uuid":"cut-off', b'{"type":[],"uuid":{},"message":7}', b'{"type":"user","message":null}'),
    ]
    lines.insert(random.randint(0, len(lines)), Line(random.choice(strange), whole=False))


def strange_value(lines: list[Line], random: Random) -> None:
    """Give a field of a record, at any depth, a value of another type."""
    at = _pick(lines, random)
    if at < 0:
        return
    try:
        value = json.loads(lines[at].data)
    except (ValueError, RecursionError):
        return
    places = list(_places(value))
    if places:
        holder, key = random.choice(places)
        holder[key] = random.choice(_STRANGE)
        lines[at] = Line(json.dumps(value).encode(), whole=False)


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return every (container, key) of a JSON value."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        keys: Any = holder if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
        for key in list(keys):
            found.append((holder, key))
            waiting.append(holder[key])
    return found


def circle(lines: list[Line], random: Random) -> None:
    """Let a record be its own parent, or name one that is nowhere."""
    at = _pick(lines, random)
    if at < 0:
        return
    found = _UUID.search(lines[at].data)
    own = found[0] if found else b"nobody"
    other = random.choice([own, b"00000000-0000-4000-8000-000000000000", b"not an id"])
    changed = re.sub(rb'"parentUuid":(?:null|"[^"]*")', b'"parentUuid":"' + other + b'"', lines[at].data, count=1)
    if changed != lines[at].data:
        lines[at] = Line(changed, whole=False)


def repeat_line(lines: list[Line], random: Random) -> None:
    """Write a line twice."""
    at = _pick(lines, random)
    if at >= 0:
        lines.insert(random.randint(0, len(lines)), Line(lines[at].data, whole=lines[at].whole))


def shuffle_lines(lines: list[Line], random: Random) -> None:
    """Swap two lines."""
    one, other = _pick(lines, random), _pick(lines, random)
    if one >= 0:
        lines[one], lines[other] = lines[other], lines[one]


def carriage_returns(lines: list[Line], random: Random) -> None:
    """End some lines as Windows does; blanks around a value are no part of it."""
    for line in lines:
        if random.random() < 0.5 and not line.data.endswith(b"\r"):
            line.data += b"\r"


def long_line(lines: list[Line], random: Random) -> None:
    """Insert a line that is much longer than a chunk."""
    text = "x" * random.choice([70_000, 1_200_000])
    value = {"type": "user", "uuid": "long", "message": {"role": "user", "content": text}}
    lines.insert(random.randint(0, len(lines)), Line(json.dumps(value).encode(), whole=False))


MUTATIONS: tuple[Callable[[list[Line], Random], None], ...] = (
    *(flip_bit, cut_out, put_in, split_line, join_lines, foreign_line, strange_value, strange_value, circle),
    *(repeat_line, shuffle_lines, carriage_returns, long_line),
)
