"""A checkpoint of a Cursor chat: the protobuf blob that lists the messages of the conversation at one moment.

[observed] in chats and read from the client's own code: field 1 repeats the SHA-256 of a message's blob, 4 a message
whose calls still run (as JSON), 9 the URIs of the workspace's folders, 26 the time in milliseconds.
"""

from __future__ import annotations

from hashlib import md5
from urllib.parse import unquote, urlsplit

from fabula.hosts.cursor.protobuf import read_fields
from fabula.kernel.values import define, field

_MESSAGE, _PENDING, _WORKSPACE, _TIME = 1, 4, 9, 26
_ID_BYTES = 32
_ENTRY = bytes((_MESSAGE << 3 | 2, _ID_BYTES))  # tag and length before each id
ENTRY_BYTES = len(_ENTRY) + _ID_BYTES


@define
class Checkpoint:
    """What a checkpoint says; ``messages`` are ids of blobs (hex) in the order of the conversation."""

    messages: list[str] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    time: int = 0


def read_checkpoint(data: bytes, *, cut: bool = False) -> Checkpoint | None:
    """Read a blob as a checkpoint; ``None`` when it is no protobuf message, or lists nothing and was not ``cut``."""
    found = Checkpoint()
    try:
        for number, value in read_fields(data):
            if number == _TIME and isinstance(value, int):
                found.time = value
            elif not isinstance(value, bytes):
                continue
            elif number == _MESSAGE and len(value) == _ID_BYTES:
                found.messages.append(value.hex())
            elif number == _PENDING:
                found.pending.append(value.decode())
            elif number == _WORKSPACE:
                found.folders.append(folder_of(value.decode()))
    except ValueError:  # among them UnicodeDecodeError
        return None
    return found if found.messages or found.pending or cut else None


def leading_entries(data: bytes, at: int = 0) -> int:
    """Return how many messages a blob lists from byte ``at`` on, one behind the other."""
    count = 0
    while data.startswith(_ENTRY, at) and at + ENTRY_BYTES <= len(data):
        count, at = count + 1, at + ENTRY_BYTES
    return count


def shared_entries(before: bytes, count: int, data: bytes) -> int:
    """Return how many of the ``count`` entries that ``before`` begins with ``data`` begins with as well."""
    low, high = 0, min(count, len(data) // ENTRY_BYTES)
    if data.startswith(before[: high * ENTRY_BYTES]):
        return high
    while low < high:  # the beginnings are the same up to ``low`` and differ at ``high``
        middle = (low + high + 1) // 2
        if before[: middle * ENTRY_BYTES] == data[: middle * ENTRY_BYTES]:
            low = middle
        else:
            high = middle - 1
    return low


def folder_of(uri: str) -> str:
    """Return the path in a ``file:`` URI; ``""`` for any other."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    return unquote(parts.path) if parts.scheme == "file" else ""


def workspace_folder(folders: list[str], name: str) -> str:
    """Return the folder after whose MD5 the chats' folder is called ``name``, else the last one."""
    for folder in folders:
        if md5(folder.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest() == name:
            return folder
    return folders[-1] if folders else ""
