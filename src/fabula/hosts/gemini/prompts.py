"""Gemini's log of what a person typed (``logs.json``): found where the chat itself is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.hosts.fields import count_of, kind_name, text_of
from fabula.hosts.gemini.content import is_command
from fabula.kernel.clock import parse_time
from fabula.kernel.ids import derived_id
from fabula.kernel.records import Block, Record

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

SHORT = 8  # characters of a session's id that a chat's file name shows


class PromptLogNormaliser:
    """Reads ``{sessionId, messageId, type, message, timestamp}``; a prompt whose chat is there is found in it."""

    def __init__(self, chats: AbstractSet[str], state: dict[str, Any] | None, cwd: str) -> None:
        self.state: dict[str, Any] = state or {}
        self._chats, self._cwd = chats, cwd

    def normalise(self, value: Any, offset: int, length: int) -> Record | str:
        """Return the prompt of an entry, or why it is skipped."""
        session, text = text_of(value, "sessionId"), text_of(value, "message")
        if not text or text_of(value, "type") != "user":
            return kind_name("logs", text_of(value, "type"))
        if session[:SHORT] in self._chats:
            return "logs/in its chat"
        time = parse_time(value.get("timestamp"))
        return Record(
            derived_id("gemini", "logs", session, count_of(value, "messageId"), text), session,
            "command" if is_command(text) else "prompt", "user", offset, length,
            time=time, blocks=[Block("text", text)], cwd=self._cwd, raw_type="logs", has_id=False,
        )  # fmt: skip
