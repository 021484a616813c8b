"""Exact bytes: what a host wrote as one record, in a form that JSON can carry."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Literal

from fabula.kernel.values import frozen
from fabula.record.containers.rows import column_bytes

ROW_COLUMNS = ("data", "content_json")  # where databases of hosts hold a record as they wrote it


@frozen
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


def as_written(path: str, raw: bytes) -> bytes:
    """Return what the host wrote, given a record's bytes in the file ``path`` as the record keeps them.

    They are the same but for rows of a database (``<database>#<session>``), kept as a line of JSON: there the host
    wrote the column that holds the record.
    """
    if "#" not in path:
        return raw
    try:
        written = column_bytes(raw, ROW_COLUMNS)
    except ValueError:  # a file of lines whose name has the sign in it
        return raw
    return raw if written is None else written
