"""A session's ``state.json``: the title that Kimi or a person gave it, its folder, and what it was forked from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.hosts.fields import text_of
from fabula.kernel.ids import derived_id
from fabula.kernel.records import Record

if TYPE_CHECKING:
    from fabula.kernel.records import SourceFile


class MetaNormaliser:
    """Reads the one object of the file."""

    def __init__(self, file: SourceFile, state: dict[str, Any] | None, cwd: str) -> None:
        self.state: dict[str, Any] = state or {}
        self._session, self._cwd = file.session, cwd

    def normalise(self, value: Any, offset: int, length: int) -> Record | str:
        """Return the title, or "state" where there is none; a kimi-cli session's stands under ``custom_title``."""
        title = text_of(value, "title") or text_of(value, "custom_title")
        forked = text_of(value, "forkedFrom")
        if not title and not forked:
            return "state"
        own = text_of(value, "titleKind") == "custom" or (
            isinstance(value, dict) and value.get("isCustomTitle") is True
        )
        uid = derived_id("kimi", "state", self._session, title)
        return Record(
            uid, self._session, "title", "", offset, length, title=title, title_rank=3 if own else 2,
            cwd=text_of(value, "cwd") or self._cwd, raw_type="state", has_id=False, parent_session=forked,
        )  # fmt: skip
