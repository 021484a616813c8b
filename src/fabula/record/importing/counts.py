"""What an import does with each row that it reads. Pure."""

from __future__ import annotations

from fabula.kernel.values import define, field


@define
class Count:
    """``rows == taken + kept + there + sum(skipped.values())`` for one table, or one column of it."""

    name: str
    rows: int = 0
    taken: int = 0  # into a place of their own: titles, pins, cards, citations
    kept: int = 0  # as they are, for a part of Fabula that can take them later
    there: int = 0  # were imported before, or said the same already
    skipped: dict[str, int] = field(default_factory=dict)  # reason -> how many

    def skip(self, reason: str, count: int = 1) -> None:
        """Count rows that are left out."""
        if not count:
            return
        self.rows += count
        self.skipped[reason] = self.skipped.get(reason, 0) + count

    def take(self) -> None:
        """Count one row that finds its place."""
        self.rows += 1
        self.taken += 1

    def keep(self, *, new: bool) -> None:
        """Count one row that is kept as it is."""
        self.rows += 1
        if new:
            self.kept += 1
        else:
            self.there += 1

    def find(self) -> None:
        """Count one row that is here already."""
        self.rows += 1
        self.there += 1
