"""A message of OpenCode as its parts need it: who speaks, where, in which turn, what it cost."""

from __future__ import annotations

from typing import Any, NamedTuple

from fabula.hosts.fields import count_of, mapping_of, text_of
from fabula.kernel.clock import parse_time


class Message(NamedTuple):
    """What is remembered of a message; saved as a list."""

    role: str
    thread: str  # id of the person's message that the turn began with
    cwd: str
    summary: bool
    time: int
    model: str
    input: int
    output: int
    cache_read: int
    cache_write: int

    @property
    def costs(self) -> bool:
        """Whether any tokens were billed for it."""
        return bool(self.input or self.output or self.cache_read or self.cache_write)


def read_message(identity: str, row: dict[str, Any], data: dict[str, Any], cwd: str) -> Message:
    """Read a message from its row and its JSON; ``cwd`` is the session's folder."""
    role = text_of(data, "role")
    tokens = mapping_of(data, "tokens")
    cache = mapping_of(tokens, "cache")
    return Message(
        role,
        (text_of(data, "parentID") if role == "assistant" else "") or identity,
        text_of(mapping_of(data, "path"), "cwd") or cwd,
        data.get("summary") is True or text_of(data, "mode") == "compaction",
        created(row) or created(data) or 0,
        text_of(data, "modelID") or text_of(mapping_of(data, "model"), "modelID"),
        count_of(tokens, "input"),
        count_of(tokens, "output") + count_of(tokens, "reasoning"),
        count_of(cache, "read"),
        count_of(cache, "write"),
    )


def created(value: dict[str, Any]) -> int | None:
    """Return when a row or a stored object was made."""
    return parse_time(value.get("time_created")) or parse_time(mapping_of(value, "time").get("created"))
