"""A builder of a Cursor chat: its database of blobs named after their content, written as a running client does."""

from __future__ import annotations

import json
from hashlib import md5, sha256
from typing import TYPE_CHECKING, Any

import apsw

from fabula.testing.transcripts import stable_uuid

if TYPE_CHECKING:
    from pathlib import Path

_SCHEMA = "create table blobs(id text primary key, data blob); create table meta(key text primary key, value text)"
_BEGIN = 1_772_359_200_000


class CursorStore:
    """One chat in ``<home>/chats/<md5 of the folder>/<id>/store.db``, in WAL mode and open."""

    def __init__(
        self, home: Path, seed: str = "chat", *, folder: str = "/home/ada/lib ii", name: str = "Bells"
    ) -> None:
        self.id = stable_uuid("cursor", seed)
        self.folder, self.name = folder, name
        workspace = md5(folder.encode(), usedforsecurity=False).hexdigest()
        self.path = home / "chats" / workspace / self.id / "store.db"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.connection = apsw.Connection(str(self.path))
        self.connection.execute("pragma journal_mode=wal")
        self.connection.execute(_SCHEMA)
        self.clock = _BEGIN
        self.listed: list[str] = []

    def blob(self, data: bytes) -> str:
        """Add a blob; return its id."""
        identity = sha256(data).hexdigest()
        self.connection.execute("insert or replace into blobs values(?,?)", (identity, data))
        return identity

    def message(self, role: str, content: Any, *, listed: bool = True, **noted: Any) -> str:
        """Add a message; ``noted`` is what the client notes beside it."""
        value = {"role": role, "content": content}
        if noted:
            value["providerOptions"] = {"cursor": noted}
        identity = self.blob(json.dumps(value).encode())
        if listed:
            self.listed.append(identity)
        return identity

    def user(self, text: str, **noted: Any) -> str:
        """Add what a person typed, as the client wraps it."""
        return self.message("user", [{"type": "text", "text": f"<user_query>\n{text}\n</user_query>"}], **noted)

    def call(self, key: str, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the part of a message that calls a tool."""
        return {"type": "tool-call", "toolCallId": key, "toolName": tool, "args": arguments}

    def result(self, key: str, tool: str, text: str, **noted: Any) -> str:
        """Add a tool's result."""
        part = {"type": "tool-result", "toolCallId": key, "toolName": tool, "result": text}
        return self.message("tool", [part], highLevelToolCallResult=noted)

    def checkpoint(self, *pending: dict[str, Any], subagents: dict[str, list[str]] | None = None) -> str:
        """Write the conversation so far, with calls that still run, and make it the chat's latest.

        ``subagents`` lists the messages of each subagent.
        """
        self.clock += 60_000
        data = b"".join(_bytes(1, bytes.fromhex(identity)) for identity in self.listed)
        data += b"".join(_bytes(4, json.dumps(message).encode()) for message in pending)
        data += _bytes(5, _number(1, 900) + _number(2, 200_000))
        data += _bytes(9, ("file://" + self.folder.replace(" ", "%20")).encode())
        data += _bytes(14, _number(1, 900) + _number(2, self.clock))
        for name, messages in (subagents or {}).items():
            state = b"".join(_bytes(1, bytes.fromhex(message)) for message in messages)
            persisted = _bytes(1, state) + _number(2, self.clock)
            data += _bytes(16, _bytes(1, name.encode()) + _bytes(2, persisted))
        identity = self.blob(data + _number(26, _BEGIN))
        facts = {"agentId": self.id, "latestRootBlobId": identity, "name": self.name, "mode": "default",
                 "createdAt": _BEGIN, "lastUsedModel": "composer-2"}  # fmt: skip
        row = ("0", json.dumps(facts).encode().hex())
        self.connection.execute("insert or replace into meta values(?,?)", row)
        return identity

    def close(self) -> None:
        """Close the database, as the client does when it ends."""
        self.connection.close()


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _bytes(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)
