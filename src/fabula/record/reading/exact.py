"""Exact bytes in a form that JSON can carry."""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class ExactBytes:
    """The bytes of a record: as text when they are valid UTF-8, else in base64."""

    id: str
    encoding: Literal["utf-8", "base64"]
    data: str

    def to_bytes(self) -> bytes:
        """Return the bytes."""
        return self.data.encode() if self.encoding == "utf-8" else b64decode(self.data)


def exact(uid: str, raw: bytes) -> ExactBytes:
    """Wrap the bytes of record ``uid``."""
    try:
        return ExactBytes(uid, "utf-8", raw.decode())
    except UnicodeDecodeError:
        return ExactBytes(uid, "base64", b64encode(raw).decode())
