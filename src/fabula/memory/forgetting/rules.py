"""What a history that forgets says in the place of what it said. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fabula.memory.forgetting.words import INSTEAD, Words, long_enough
from fabula.memory.past.subjects import operation_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabula.memory.forgetting.values import Found
    from fabula.storage.git.logrows import LogRow, Touch

_LEAST = 4  # characters of a text that is looked for in the messages about it
_KEPT = re.compile(rb"^Memhtml-(?:Session|Prompt): .*$", re.MULTILINE)


class Forgetting:
    """The rules of one forgetting. ``new``: edited blob -> the blob that stands for it."""

    def __init__(self, found: Found, rows: Mapping[str, LogRow], new: Mapping[str, str]) -> None:
        self._found = found
        self._rows = rows
        self._new = new
        texts = found.needles if found.target.text else long_enough(found.needles)
        self._everywhere = Words(texts)
        self._near = Words(text for text in found.needles if len(text) >= _LEAST or text in texts)

    def becomes(self, path: str, blob: str) -> str:
        """Return the blob that stands for one at a path; empty where there is to be no file."""
        if blob in self._found.blobs or (not self._found.target.text and path in self._found.paths):
            return ""
        return self._new.get(blob, blob)

    def message(self, commit: str, text: bytes) -> bytes:
        """Return the message of a commit: one that dealt with nothing else keeps its operation and session alone."""
        row = self._rows[commit]
        about = [touch for touch in row.touches if self._is_about(touch)]
        if about and len(about) == len(row.touches) and not self._found.target.text:
            return self._of_it_alone(row, text)
        near = about or any({touch.old, touch.new} & self._found.edited.keys() for touch in row.touches)
        return (self._near if near else self._everywhere).out_of(text)

    def _of_it_alone(self, row: LogRow, text: bytes) -> bytes:
        operation, _ = operation_of(row.subject)
        subject = f"memhtml({operation}): {INSTEAD}" if operation else INSTEAD
        kept = b"\n".join(self._everywhere.out_of(line) for line in _KEPT.findall(text))
        return subject.encode() + b"\n" + (b"\n" + kept + b"\n" if kept else b"")

    def _is_about(self, touch: Touch) -> bool:
        return touch.path in self._found.paths or not self._found.blobs.isdisjoint((touch.old, touch.new))
