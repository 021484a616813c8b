"""Standard output for people and for programs: text with plain styles, exact bytes, or one JSON envelope.

Text that comes from transcripts is data: control characters are shown as pictures, so no recorded escape sequence
reaches a terminal. Styles are written as noncharacters and become escape sequences only on a terminal.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import as_dict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TextIO

_BOLD, _DIM, _MARK, _PLAIN = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3"
_STYLES = {_BOLD: "\x1b[1m", _DIM: "\x1b[2m", _MARK: "\x1b[1;33m", _PLAIN: "\x1b[0m"}
_PICTURES = {code: chr(0x2400 + code) for code in range(32) if code not in (9, 10)}
_DIRECTIONS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))  # they show a line in another order than it has
_PICTURES |= {127: "\u2421", **dict.fromkeys((*range(128, 160), *_DIRECTIONS), "\ufffd")}
_ON_TERMINALS = str.maketrans({**{chr(k): v for k, v in _PICTURES.items()}, **_STYLES})
_ELSEWHERE = str.maketrans({**{chr(k): v for k, v in _PICTURES.items()}, **dict.fromkeys(_STYLES, "")})

#: JSON would let them through, terminals obey some.
_CONTROLS = {code: f"\\u{code:04x}" for code in (*range(127, 160), *_DIRECTIONS)}

_BATCH = 1 << 16
DEFAULT_WIDTH = 100


class Out:
    """Where a command's result goes. Everything is written whole, also through a slow or non-blocking pipe."""

    def __init__(self, sink: Callable[[bytes], None], *, styled: bool = False, width: int = DEFAULT_WIDTH) -> None:
        self._sink = sink
        self._table = _ON_TERMINALS if styled else _ELSEWHERE
        self._waiting: list[bytes] = []
        self._size = 0
        self.styled = styled
        self.width = width

    def write(self, text: str) -> None:
        """Write text; styles are kept or dropped, control characters shown."""
        self.raw(text.translate(self._table).encode("utf-8", "replace"))

    def line(self, text: str = "") -> None:
        """Write one line."""
        self.write(text + "\n")

    def raw(self, data: bytes) -> None:
        """Write bytes exactly as they are."""
        self._waiting.append(data)
        self._size += len(data)
        if self._size >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Hand over what is waiting. Raises ``BrokenPipeError`` when nobody reads any more."""
        data = b"".join(self._waiting)
        self._waiting.clear()
        self._size = 0
        if data:
            self._sink(data)

    def raw_now(self, data: bytes) -> None:
        """Write bytes and hand them over."""
        self.raw(data)
        self.flush()

    @staticmethod
    def bold(text: str) -> str:
        """Mark text as important."""
        return f"{_BOLD}{text}{_PLAIN}"

    @staticmethod
    def dim(text: str) -> str:
        """Mark text as secondary."""
        return f"{_DIM}{text}{_PLAIN}"

    @staticmethod
    def mark(text: str) -> str:
        """Mark text as matched."""
        return f"{_MARK}{text}{_PLAIN}"


def open_output(stream: TextIO | None, environment: Mapping[str, str]) -> Out:
    """Return the output on a standard stream; styled on a terminal unless ``NO_COLOR`` is set or ``TERM`` is dumb."""
    if stream is None:  # started with the stream closed
        return Out(lambda _: None)
    try:
        handle: int | None = stream.fileno()
    except (OSError, ValueError):  # a stream in memory
        handle = None
    terminal = handle is not None and os.isatty(handle)
    styled = terminal and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"
    width = DEFAULT_WIDTH
    if handle is not None and terminal:
        with suppress(OSError):
            width = max(40, os.get_terminal_size(handle).columns)
    if handle is None:
        return Out(lambda data: _to_memory(stream, data), styled=styled, width=width)
    number = handle
    return Out(lambda data: write_whole(number, data), styled=styled, width=width)


def _to_memory(stream: TextIO, data: bytes) -> None:
    stream.write(data.decode("utf-8", "surrogateescape"))


def write_whole(handle: int, data: bytes) -> None:
    """Write all bytes to a file descriptor, waiting where it is full (a parent may have made it non-blocking).

    Raises ``BrokenPipeError`` when the reader is gone, ``ERR_DISK`` when the disk refuses.
    """
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(handle, view[:_BATCH]) :]
        except BlockingIOError:
            import select

            select.select([], [handle], [])
        except BrokenPipeError:
            raise
        except OSError as error:
            raise FabulaError("ERR_DISK", f"standard output: {error.strerror}", "write it elsewhere") from error


def to_json(value: Any) -> bytes:
    """Return ``value`` as one line of JSON. Value types become objects, paths text, sets sorted lists.

    What JSON cannot say (NaN, infinities) becomes null; lone surrogates and every control character become escapes.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)
    except ValueError:
        clean = json.loads(json.dumps(value, default=_plain), parse_constant=lambda _: None)
        text = json.dumps(clean, ensure_ascii=False)
    try:
        return text.translate(_CONTROLS).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(json.loads(text)).encode() + b"\n"


def _plain(value: Any) -> Any:
    if hasattr(type(value), "__match_args__"):
        return as_dict(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"no JSON form for {type(value).__name__}")
