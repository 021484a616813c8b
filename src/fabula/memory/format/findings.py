"""What is wrong with a file, where, and what puts it right."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabula.memory.format.source import Place

#: The order in which violations are reported: the parts of a file from the top, then the values of its metas. Of the
#: group ``active`` are warnings alone: what a browser would load or run.
GROUPS = ("file", "head", "article", "mark", "times", "presentation", "links", "metas", "active")


class Finding(NamedTuple):
    """Something about a file: what it is, where, and how to put it right. ``group`` is one of :data:`GROUPS`."""

    group: str
    message: str
    place: Place
    fix: str

    def __str__(self) -> str:
        return f"{self.place.line}:{self.place.column}: {self.message} ({self.fix})"


def joined(findings: Iterable[Finding]) -> str:
    """Return the messages of findings in one line."""
    return "; ".join([finding.message for finding in findings])
