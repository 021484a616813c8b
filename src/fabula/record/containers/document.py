"""A file that is one JSON document: the values are the elements of one list in it, with their spans in the file.

The list is a member of the document's object (``{"messages": […]}``) or the document itself. What stands before the
list is found as the head, with the other members as its value; an object without the list is one value.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import msgspec

from fabula.record.containers.json_scan import decode_value, make_valid
from fabula.record.containers.jsonl import CHUNK_BYTES, open_regular
from fabula.record.sources import Chunk, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

_RESCAN_LIMIT = 64 << 20  # bytes that attempts behind damage may look at in all
_ATTEMPT_COST = 64
DOCUMENT_LIMIT = 256 << 20  # a larger document is kept, not read

_BOM = b"\xef\xbb\xbf"
_BLANKS = re.compile(rb"[ \t\r\n]*+")
_BETWEEN = re.compile(rb"[ \t\r\n,]*+")
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SCALAR = re.compile(rb"[^\s,\]}\[{\":]++")
_TOKEN = re.compile(rb'[{}\[\]]|"[^"\\]*+(?:\\.[^"\\]*+)*+"|"', re.DOTALL)
_OPENING = b"{["
_decode = msgspec.json.Decoder().decode


class JsonDocument:
    """One JSON document (``record.sources.Container``); a changed one is read whole again.

    ``key`` names the list; ``marks`` are keys that an element must have to be believed after damage.
    """

    def __init__(self, path: str, key: str, marks: tuple[str, ...] = ("id", "type")) -> None:
        self.path = path
        self.waiting = 0
        self.tail = b""
        self._key = key
        self._marks = marks

    def chunks(self, start: int = 0) -> Iterator[Chunk]:
        """Yield the document as one chunk; from any byte but the first there is nothing. Raises ``OSError``."""
        if start:
            return
        with open_regular(self.path) as file:
            size = os.fstat(file.fileno()).st_size
            if size <= DOCUMENT_LIMIT:
                data = file.read(size) or b""
                if data:
                    yield read_document(data, self._key, self._marks)
                return
            offset = 0
            while offset < size and (data := file.read(min(CHUNK_BYTES, size - offset)) or b""):
                yield Chunk(offset, data, unreadable=len(data))
                offset += len(data)


def read_document(data: bytes, key: str, marks: tuple[str, ...]) -> Chunk:
    """Find the elements of the list ``key`` in a whole document. Never raises."""
    chunk = Chunk(0, data)
    at = _skip(data, len(_BOM) if data.startswith(_BOM) else 0)
    if at >= len(data):
        return chunk
    first = data[at]
    if first == 0x5B:
        _trailing(data, _Elements(data, chunk, marks).read(at + 1), chunk)
    elif first != 0x7B or not _read_object(data, at, key, marks, chunk):
        _read_whole(data, at, chunk)
    return chunk


def _read_object(data: bytes, at: int, key: str, marks: tuple[str, ...], chunk: Chunk) -> bool:
    """Walk the members of the object at ``at``; return whether the list was found."""
    head: dict[str, Any] = {}
    listed = -1
    position = at + 1
    elements = _Elements(data, chunk, marks)
    while (position := _skip(data, position, _BETWEEN)) < len(data) and data[position] != 0x7D:
        name = _STRING.match(data, position)
        colon = _skip(data, name.end()) if name is not None else len(data)
        if name is None or data[colon : colon + 1] != b":":
            chunk.unreadable += len(data) - position
            position = len(data)
            break
        value = _skip(data, colon + 1)
        if listed < 0 and name[0] == b'"' + key.encode() + b'"' and data[value : value + 1] == b"[":
            listed = value + 1
            position = elements.read(listed)
            continue
        end = end_of_value(data, value)
        if end < 0:
            chunk.unreadable += len(data) - position
            position = len(data)
            break
        head[str(_value(data, name.start(), name.end()))] = _value(data, value, end)
        position = end
    if listed < 0:
        chunk.unreadable = 0
        return False
    chunk.values.insert(0, Found(at, listed - at, head, counts=False))
    _trailing(data, position + 1, chunk)
    return True


def _read_whole(data: bytes, at: int, chunk: Chunk) -> None:
    """Take the document as one value, else as unreadable."""
    end = end_of_value(data, at)
    value = _value(data, at, end) if end > 0 else None
    if value is None:
        chunk.unreadable = len(data) - at
        return
    chunk.values.append(Found(at, end - at, value))
    _trailing(data, end, chunk)


def _trailing(data: bytes, end: int, chunk: Chunk) -> None:
    """What follows the document's end is unreadable, but for blanks."""
    if end < len(data):
        chunk.unreadable += len(data) - _skip(data, end)


class _Elements:
    """Reads the elements of one list into a chunk."""

    def __init__(self, data: bytes, chunk: Chunk, marks: tuple[str, ...]) -> None:
        self._data, self._chunk, self._marks = data, chunk, marks

    def read(self, position: int) -> int:
        """Read from behind the list's bracket; return the position behind the list's end, or the end of the data."""
        data, found = self._data, self._chunk.values
        while (position := _skip(data, position, _BETWEEN)) < len(data):
            if data[position] == 0x5D:
                return position + 1
            end = end_of_value(data, position)
            value = _value(data, position, end) if end > 0 else None
            if end < 0 or (value is None and data[position:end] != b"null"):
                return self._recover(position)
            found.append(Found(position, end - position, value))
            position = end
        return position

    def _recover(self, position: int) -> int:
        """Go on behind damage: whole objects that look like elements are believed, all else is unreadable."""
        data, chunk = self._data, self._chunk
        lost = position
        spent = 0
        while spent <= _RESCAN_LIMIT and (opening := data.find(b"{", position)) >= 0:
            end = end_of_value(data, opening)
            spent += _ATTEMPT_COST + (end if end > 0 else len(data)) - opening
            value = _value(data, opening, end) if end > 0 else None
            if not isinstance(value, dict) or not all(mark in value for mark in self._marks):
                position = opening + 1
                continue
            chunk.unreadable += opening - lost
            chunk.values.append(Found(opening, end - opening, value, recovered=True))
            position = lost = end
        chunk.unreadable += len(data) - lost
        return len(data)


def end_of_value(data: bytes, at: int) -> int:
    """Return the byte behind the JSON value at ``at``, or -1 when it does not end; brackets are only counted."""
    if at >= len(data):
        return -1
    first = data[at]
    if first == 0x22:
        text = _STRING.match(data, at)
        return text.end() if text is not None else -1
    if first not in _OPENING:
        scalar = _SCALAR.match(data, at)
        return scalar.end() if scalar is not None else -1
    depth = 0
    for token in _TOKEN.finditer(data, at):
        mark = data[token.start()]
        if mark == 0x22:
            if token.end() - token.start() == 1:
                return -1
        elif mark in _OPENING:
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                return token.end()
    return -1


def _value(data: bytes, start: int, end: int) -> Any:
    """Decode a span; ``None`` when it is no JSON value."""
    try:
        return _decode(memoryview(data)[start:end])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass  # lone surrogates, bad UTF-8, deep nesting: read with care
    try:
        return make_valid(decode_value(data[start:end]))
    except ValueError:
        return None


def _skip(data: bytes, at: int, what: re.Pattern[bytes] = _BLANKS) -> int:
    found = what.match(data, at)
    return found.end() if found is not None else at
