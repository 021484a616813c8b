"""The ``meta.json`` that newer versions of Cursor keep beside a chat: its title and its folder. [observed]"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.hosts.fields import text_of
from fabula.kernel.clock import parse_time
from fabula.kernel.ids import derived_id
from fabula.kernel.records import Record

if TYPE_CHECKING:
    from fabula.kernel.records import SourceFile


class SidecarNormaliser:
    """Makes one title of ``{title, cwd, createdAtMs, updatedAtMs, …}`` (``record.sources.Normaliser``)."""

    def __init__(self, file: SourceFile, state: dict[str, Any] | None) -> None:
        self.state: dict[str, Any] = state or {}
        self._session = file.session

    def normalise(self, value: Any, offset: int, length: int) -> Record | str:
        """Return the title, or ``"meta"`` when the chat has none."""
        title = text_of(value, "title").strip()
        if not title:
            return "meta"
        return Record(
            derived_id("cursor", self._session, "title", title),
            self._session,
            "title",
            "",
            offset,
            length,
            time=parse_time(value.get("createdAtMs")),
            title=title,
            title_rank=2,
            cwd=text_of(value, "cwd"),
            raw_type="meta",
            has_id=False,
        )
