"""Checksums of journal rows."""

from __future__ import annotations

import os
import zlib

from msgspec import msgpack

_encode = msgpack.Encoder().encode


def mark(*columns: object) -> int:
    """Return the CRC-32 of a row's columns (text, bytes, integers, ``None``)."""
    return zlib.crc32(_encode(columns))


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
