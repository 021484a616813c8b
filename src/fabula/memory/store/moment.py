"""The moment of a change: read from the clock once, so that all stamps and the commit agree."""

from __future__ import annotations

from datetime import UTC, datetime

from fabula.kernel.values import frozen
from fabula.memory.format.times import written


@frozen
class Moment:
    """A moment to the second. ``text`` is how files write it, ``git`` how git does, ``when`` the same for Python."""

    seconds: int

    @property
    def when(self) -> datetime:
        """The moment in UTC."""
        return datetime.fromtimestamp(self.seconds, UTC)

    @property
    def text(self) -> str:
        """The moment as ``2026-05-14T08:20:00Z``."""
        return written(self.when)

    @property
    def git(self) -> str:
        """The moment as ``1700000000 +0000``."""
        return f"{self.seconds} +0000"

    @property
    def year(self) -> int:
        """The year in UTC: the part of the archive that things go to."""
        return self.when.year
