"""Contents that the record holds whole: complete reads, and copies that a client keeps beside a result. Pure."""

from __future__ import annotations

import re
from typing import Any

from fabula.kernel.values import frozen
from fabula.record.history.patches import Hunk, apply_hunks

_NUMBERED = re.compile(r"^\s*(\d+)(?:\t|→|\| )(.*)$")
_REMINDER = re.compile(r"\n*<system-reminder>.*?</system-reminder>\s*\Z", re.DOTALL)
MOST_LINES = 2000  # clients cut longer listings


@frozen
class Contents:
    """The text of a whole file; ``end_known`` is false when the listing does not tell how the last line ends."""

    text: str
    end_known: bool = True

    def same_as(self, text: str | None) -> bool:
        """Whether this can be the given text."""
        if text is None:
            return False
        return self.text == text or (not self.end_known and self.text.rstrip("\n") == text.rstrip("\n"))


def listed(text: str) -> Contents | None:
    """Read a numbered listing that begins at line 1 and is complete; ``None`` for anything else."""
    body = _REMINDER.sub("", text).rstrip("\n")
    lines: list[str] = []
    for number, line in enumerate(body.split("\n"), 1):
        found = _NUMBERED.match(line)
        if found is None or int(found[1]) != number:
            return None
        lines.append(found[2])
    if not lines or len(lines) >= MOST_LINES:
        return None
    if lines[-1] == "":
        return Contents("\n".join(lines))
    return Contents("\n".join(lines) + "\n", end_known=False)


def read_back(text: str, detail: object) -> Contents | None:
    """Return what a complete read saw: the client's own copy where it kept one, else the listing it showed."""
    file = detail.get("file") if isinstance(detail, dict) else None
    if isinstance(file, dict):
        content, lines = file.get("content"), file.get("numLines")
        if not isinstance(content, str) or not isinstance(lines, int) or lines >= MOST_LINES:
            return None
        return Contents(content) if file.get("startLine") == 1 and lines == file.get("totalLines") else None
    return listed(text)


def before_edit(detail: object) -> str | None:
    """Return the contents before an edit, which Claude Code keeps with the result."""
    if not isinstance(detail, dict):
        return None
    for key in ("originalFile", "originalFileContents"):
        value = detail.get(key)
        if isinstance(value, str):
            return value
    return None


def changed_by_person(detail: object, before: str | None) -> str | None:
    """Return the contents after an edit that a person changed before accepting it; ``None`` for any other edit."""
    if not isinstance(detail, dict) or detail.get("userModified") is not True or before is None:
        return None
    return apply_hunks(before, _hunks(detail.get("structuredPatch")))


def _hunks(patch: Any) -> list[Hunk]:
    made = []
    for part in patch if isinstance(patch, list) else ():
        lines = part.get("lines") if isinstance(part, dict) else None
        if isinstance(lines, list):
            texts = [line for line in lines if isinstance(line, str) and not line.startswith("\\")]
            old = [line[1:] for line in texts if line[:1] in (" ", "-")]
            made.append(Hunk("", old, [line[1:] for line in texts if line[:1] in (" ", "+")]))
    return made
