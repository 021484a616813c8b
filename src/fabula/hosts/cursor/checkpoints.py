"""A checkpoint of a Cursor chat: the protobuf blob that lists the messages of the conversation at one moment.

Source: the schema in Cursor's own package ``@cursor/sdk`` 1.0.18 (``agent.v1.ConversationStateStructure``): field 1
repeats the SHA-256 of a message's blob, 4 a message whose calls still run (as JSON), 9 the URIs of the workspace's
folders, 14 when turns were ({2: ms}), 16 the subagents ({1: id, 2: {1: a checkpoint of its own}}), 26 when the
conversation began, in ms.
"""

from __future__ import annotations

from hashlib import md5
from urllib.parse import unquote, urlsplit

from fabula.hosts.cursor.protobuf import read_fields
from fabula.kernel.values import define, field

_MESSAGE, _PENDING, _WORKSPACE, _TURN, _SUBAGENT, _BEGAN = 1, 4, 9, 14, 16, 26
_ID_BYTES = 32
_ENTRY = bytes((_MESSAGE << 3 | 2, _ID_BYTES))  # tag and length before each id
ENTRY_BYTES = len(_ENTRY) + _ID_BYTES


@define
class Checkpoint:
    """What a checkpoint says; ``messages`` are ids of blobs (hex) in the order of the conversation.

    ``subagents`` has those of each subagent, ``time`` is that of the newest turn that tells one.
    """

    messages: list[str] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    subagents: dict[str, list[str]] = field(default_factory=dict)
    time: int = 0


def read_checkpoint(data: bytes, *, cut: bool = False) -> Checkpoint | None:
    """Read a blob as a checkpoint; ``None`` when it is no protobuf message, or lists nothing and was not ``cut``."""
    found = Checkpoint()
    try:
        for number, value in read_fields(data):
            if isinstance(value, bytes):
                _add(found, number, value)
            elif number == _BEGAN:
                found.time = max(found.time, value)
    except ValueError:  # among them UnicodeDecodeError
        return None
    return found if found.messages or found.pending or cut else None


def _add(found: Checkpoint, number: int, value: bytes) -> None:
    if number == _MESSAGE and len(value) == _ID_BYTES:
        found.messages.append(value.hex())
    elif number == _PENDING:
        found.pending.append(value.decode())
    elif number == _WORKSPACE:
        found.folders.append(folder_of(value.decode()))
    elif number == _TURN:
        found.time = max(found.time, *(at for field_, at in _within(value) if field_ == 2 and isinstance(at, int)), 0)
    elif number == _SUBAGENT:
        name, persisted = _first(value, 1), _first(value, 2)
        nested = _within(_first(persisted, 1))
        listed = [at.hex() for field_, at in nested if field_ == _MESSAGE and isinstance(at, bytes)]
        found.subagents[name.decode(errors="replace")] = listed


def _within(data: bytes) -> list[tuple[int, int | bytes]]:
    """Read a message inside a checkpoint; one that cannot be read costs only itself."""
    try:
        return read_fields(data)
    except ValueError:
        return []


def _first(data: bytes, number: int) -> bytes:
    return next((value for at, value in _within(data) if at == number and isinstance(value, bytes)), b"")


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
