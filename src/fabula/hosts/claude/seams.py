"""Fields of ours in composed sessions (written by ``composing``), and what they tell a reader."""

from __future__ import annotations

from typing import Any

from fabula.hosts.claude.fields import dict_of, text_of

#: On the record before each thread: where the thread was taken from.
SEAM = "fabulaSeam"
#: On every copy: the uuid of the original; ``""`` on records that have none.
COPY = "fabulaComposedFrom"


def seam_facts(value: dict[str, Any]) -> dict[str, str]:
    """Return the source ``session``, ``thread`` and ``title`` that a seam names; empty for any other record."""
    seam = dict_of(value.get(SEAM))
    return {name: text_of(seam.get(name)) for name in ("session", "thread", "title")} if seam else {}


def may_hold_seam(data: bytes) -> bool:
    """Say whether a file's bytes can hold a seam, without decoding them: composing writes the key unescaped."""
    return SEAM.encode() in data


def is_seam(value: object) -> bool:
    """Say whether a line is the seam of a composed session."""
    return isinstance(value, dict) and isinstance(value.get(SEAM), dict)


def is_ours(value: object, session: str) -> bool:
    """Say whether a line of a session's file is one that composing wrote, and no fork of it."""
    if not isinstance(value, dict) or value.get("sessionId") != session or "forkedFrom" in value:
        return False
    return isinstance(value.get(COPY), str) or is_seam(value)
