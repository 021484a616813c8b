"""Checksums of journal rows."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@cache
def _marker() -> Callable[[tuple[object, ...]], int]:
    """Return what makes checksums; readers need none."""
    from zlib import crc32

    from msgspec import msgpack

    encode = msgpack.Encoder().encode
    return lambda columns: crc32(encode(columns))


def mark(*columns: object) -> int:
    """Return the CRC-32 of a row's columns (text, bytes, integers, ``None``)."""
    return _marker()(columns)


def stored_path(path: str) -> str | bytes:
    """Return a path as it is stored: text, or its bytes where they are no valid text."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return path


def shown_path(stored: str | bytes) -> str:
    """Inverse of :func:`stored_path`."""
    return os.fsdecode(stored) if isinstance(stored, bytes) else stored
