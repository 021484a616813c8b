"""Finding JSON values in a stretch of bytes, whatever the bytes are.

``scan_values`` is the careful path, taken when a line is not plainly one object: it reads value after value, gives
each its exact span of bytes and goes on behind damage. Values that are too large or nested too deeply to be decoded
whole are *outlined*: their structure is checked, long strings become ``""`` and deep containers ``null``, so that ids,
kinds and short texts survive in bounded memory.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import msgspec

from fabula.kernel.values import define, field
from fabula.record.sources import Found

if TYPE_CHECKING:
    from collections.abc import Iterator

#: A value longer than this is outlined, never decoded whole.
WHOLE_LIMIT = 16 << 20

#: Rounds of outlining, gentlest first: (longest string kept, deepest container kept).
_ROUNDS = ((64 << 10, 128), (256, 6))
#: An outline longer than this is given up for the next round; after the last, only the span of the value is known.
_OUTLINE_LIMIT = 8 << 20
#: Bytes that failed attempts on one line may cost before the rest of the line is called unreadable.
_RESCAN_LIMIT = 256 << 20

#: What one failed attempt costs besides the bytes it looked at.
_ATTEMPT_COST = 2048
_WINDOW = 16 << 10

_DAMAGE: Any = object()
_BLANK_BYTES = b" \t\r"
_OPENING = re.compile(rb'\{(?=[ \t\r]*+["}])')  # a brace before anything else begins no object
_OPENING_TEXT = re.compile(r'\{(?=[ \t\r]*+["}])')
_LEADING = re.compile(rb"[ \t\r]*+")
_LEADING_TEXT = re.compile(r"[ \t\r]*+")
_STRING = rb'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"'
_TOKEN = re.compile(rb"[{}\[\]]|" + _STRING + rb'|"')
_WHOLE_STRING = re.compile(_STRING)

decoder = msgspec.json.Decoder()
_raw_decode = json.JSONDecoder().raw_decode


@define
class Scan:
    """What was found in a stretch of bytes. ``whole``: nothing but complete values and blanks."""

    values: list[Found] = field(default_factory=list)
    unreadable: int = 0
    whole: bool = True


def decode_value(raw: bytes) -> Any:
    """Decode the bytes of one span the way they were read. Raises ``ValueError`` when they are not one JSON value."""
    scan = scan_values(raw, 0, len(raw), 0)
    if len(scan.values) != 1 or not scan.whole:
        raise ValueError("not one JSON value")
    return scan.values[0].value


def scan_values(data: bytes, start: int, end: int, base: int) -> Scan:
    """Find every value in ``data[start:end]`` (no line feed inside); ``base`` is the file offset of ``data[0]``.

    After damage the rest is rescanned from the next ``{``, and what is found there counts as recovered.
    """
    start, end = _trim(data, start, end)
    scan = Scan()
    if start == end:
        return scan
    if end - start <= WHOLE_LIMIT:
        try:
            scan.values.append(Found(base + start, end - start, decoder.decode(memoryview(data)[start:end])))
            return scan
        except (msgspec.MsgspecError, ValueError, RecursionError):
            pass  # damage, several values, or something that only the careful steps read
    steps = _outlined_steps if end - start > WHOLE_LIMIT else _decoded_steps
    for first, last, value in steps(data, start, end):
        if value is _DAMAGE:
            scan.unreadable += last - first
            scan.whole = False
        else:
            scan.values.append(Found(base + first, last - first, value, not scan.whole))
    return scan


def _trim(data: bytes, start: int, end: int) -> tuple[int, int]:
    """Leave out the blanks around, without copying what lies between."""
    start = _behind_blanks(data, start, end)
    while end > start and data[end - 1] in _BLANK_BYTES:
        block = data[max(start, end - 4096) : end]
        end -= len(block) - len(block.rstrip(_BLANK_BYTES))
    return start, end


def _behind_blanks(data: bytes, start: int, end: int) -> int:
    found = _LEADING.match(data, start, end)
    return found.end() if found else start


def _decoded_steps(data: bytes, start: int, end: int) -> Iterator[tuple[int, int, Any]]:
    """Yield (first byte, end byte, value or damage) by decoding text; bytes and characters are kept in step."""
    text = data[start:end].decode("utf-8", "surrogateescape")
    one_to_one = len(text) == end - start
    index, at, spent, cost = 0, start, 0, 0
    while index < len(text):
        try:
            value, stop = _raw_decode(text, index)
        except RecursionError:
            value, stop, cost = _outline_in_text(data, index, at, end)
        except ValueError as error:
            value, stop, cost = _DAMAGE, index, _cost(error, index, len(text))
        if value is _DAMAGE:
            spent += cost
            fresh = _OPENING_TEXT.search(text, index + 1) if spent <= _RESCAN_LIMIT else None
            stop = fresh.start() if fresh else len(text)
        elif not text.isascii() or text.find("\\u", index, stop) >= 0:
            value = make_valid(value)
        part = text[index:stop]
        behind = at + (len(part) if one_to_one else len(part.encode("utf-8", "surrogateescape")))
        yield at, _trim(data, at, behind)[1], value
        index, at = stop, behind
        if value is not _DAMAGE:
            blanks = _LEADING_TEXT.match(text, stop)
            index = blanks.end() if blanks else stop
            at += index - stop
        elif index > _WINDOW:  # an error message counts lines from the text's start: keep that start near
            text, index = text[index:], 0


def _cost(error: ValueError, index: int, length: int) -> int:
    """How far a failed attempt looked: an unterminated string is reported at its start, but was read to the end."""
    if isinstance(error, json.JSONDecodeError) and not error.msg.startswith("Unterminated"):
        return _ATTEMPT_COST + error.pos - index
    return _ATTEMPT_COST + length - index


def _outline_in_text(data: bytes, index: int, at: int, end: int) -> tuple[Any, int, int]:
    """Outline the too deep value at byte ``at``, character ``index``: (it, the character behind it, cost if failed)."""
    try:
        value, behind = outline(data, at, end)
    except ValueError:
        return _DAMAGE, index, 64 * (end - at)
    return value, index + len(data[at:behind].decode("utf-8", "surrogateescape")), 0


def _outlined_steps(data: bytes, start: int, end: int) -> Iterator[tuple[int, int, Any]]:
    """The same for a line too long to decode: every value is outlined, nothing the size of the line is copied."""
    at, spent = start, 0
    while at < end:
        try:
            value, behind = outline(data, at, end)
        except ValueError:
            spent += end - at
            fresh = _OPENING.search(data, at + 1, end) if spent <= _RESCAN_LIMIT else None
            behind = fresh.start() if fresh else end
            yield at, _trim(data, at, behind)[1], _DAMAGE
            at = behind
            continue
        yield at, behind, value
        at = _behind_blanks(data, behind, end)


def outline(data: bytes, start: int, end: int) -> tuple[Any, int]:
    """Return the value at ``start`` with its long and deep parts elided, and the byte behind it.

    Raises ``ValueError`` when no value begins there or it is not complete.
    """
    first = data[start]
    if first == 0x22:
        whole = _WHOLE_STRING.match(data, start, end)
        if whole is None:
            raise ValueError("unterminated string")
        return "", whole.end()
    if first not in b"{[":
        text = data[start : min(end, start + 4096)].decode("utf-8", "surrogateescape")
        value, stop = _raw_decode(text)
        return value, start + stop
    behind = end
    for longest, deepest in _ROUNDS:
        pieces, behind = _elide(data, start, end, longest, deepest)
        if pieces is not None:
            text = b"".join(pieces).decode("utf-8", "surrogateescape")
            value, stop = _raw_decode(text)
            if stop != len(text):
                raise ValueError("brackets do not match")
            return make_valid(value), behind
    return ({} if first == 0x7B else []), behind


def _elide(data: bytes, start: int, end: int, longest: int, deepest: int) -> tuple[list[bytes] | None, int]:
    """Walk the brackets and strings of one container; return the pieces of its outline (``None``: too long)."""
    pieces: list[bytes] = []
    size = depth = 0
    kept = start  # what lies before is in ``pieces``
    for token in _TOKEN.finditer(data, start, end):
        at = token.start()
        first = data[at]
        if first == 0x22:
            behind = token.end()
            if behind - at == 1:
                raise ValueError("damaged string")
            if depth <= deepest and behind - at > longest:
                size += at - kept
                pieces += (data[kept:at], b'""') if size <= _OUTLINE_LIMIT else ()
                kept = behind
            continue
        if first in b"{[":
            depth += 1
            if depth == deepest + 1:
                size += at - kept
                pieces += (data[kept:at], b"null") if size <= _OUTLINE_LIMIT else ()
            continue
        if depth == deepest + 1:
            kept = at + 1
        depth -= 1
        if depth == 0:
            size += at + 1 - kept
            if size > _OUTLINE_LIMIT:
                return None, at + 1
            pieces.append(data[kept : at + 1])
            return pieces, at + 1
    raise ValueError("the value does not end")


def make_valid(value: Any) -> Any:
    """Return ``value`` with every lone surrogate replaced by U+FFFD, in keys too; depth is no obstacle."""
    holder: list[Any] = [value]
    todo: list[Any] = [holder]
    while todo:
        box = todo.pop()
        if isinstance(box, dict):
            for key in [key for key in box if _broken(key)]:
                box[_repair(key)] = box.pop(key)
        for key, item in box.items() if isinstance(box, dict) else enumerate(box):
            if isinstance(item, str):
                if _broken(item):
                    box[key] = _repair(item)
            elif isinstance(item, dict | list):
                todo.append(item)
    return holder[0]


def _broken(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _repair(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
