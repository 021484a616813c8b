"""The two lists beside the rollouts: prompts a person typed (``history.jsonl``) and names they gave to sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.hosts.fields import text_of
from fabula.kernel.clock import parse_time
from fabula.kernel.ids import derived_id
from fabula.kernel.records import Block, Record

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet


class HistoryNormaliser:
    """Reads the prompt history: ``{session_id, ts, text}``. A prompt whose rollout is there is found in it."""

    def __init__(self, with_transcript: AbstractSet[str], state: dict[str, Any] | None) -> None:
        self.state: dict[str, Any] = state or {}
        self._with_transcript = with_transcript

    def normalise(self, value: Any, offset: int, length: int) -> Record | str:
        """Return the prompt of a line, or why it is skipped."""
        session, text = text_of(value, "session_id"), text_of(value, "text")
        if not text:
            return "history/empty"
        if session in self._with_transcript:
            return "history/in its transcript"
        time = parse_time(value.get("ts"))
        return Record(
            derived_id("codex", "history", session, time or 0, text), session, "prompt", "user", offset, length,
            time=time, blocks=[Block("text", text)], raw_type="history", has_id=False,
        )  # fmt: skip


class NamesNormaliser:
    """Reads the names of sessions: ``{id, thread_name, updated_at}``; a session's last line counts."""

    def __init__(self, state: dict[str, Any] | None) -> None:
        self.state: dict[str, Any] = state or {}

    def normalise(self, value: Any, offset: int, length: int) -> Record | str:
        """Return the title that a line gives, or why it is skipped."""
        session, name = text_of(value, "id"), text_of(value, "thread_name")
        if not session or not name:
            return "names/empty"
        time = parse_time(value.get("updated_at"))
        return Record(
            derived_id("codex", "name", session, name, time or 0), session, "title", "", offset, length,
            time=time, title=name, title_rank=3, raw_type="session_index", has_id=False,
        )  # fmt: skip
