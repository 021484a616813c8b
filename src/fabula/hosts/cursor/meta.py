"""What Cursor notes about a chat: the ``meta`` table's JSON, kept in hex. Pure."""

from __future__ import annotations

from typing import Any

from fabula.hosts.fields import object_in


def read_meta(value: object) -> dict[str, Any]:
    """Read ``{agentId, latestRootBlobId, name, mode, createdAt, lastUsedModel}``, in hex or plain; else nothing."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    if not isinstance(text, str):
        return {}
    try:
        plain = bytes.fromhex(text).decode("utf-8", "replace")
    except ValueError:
        plain = text
    return object_in(plain) or {}
