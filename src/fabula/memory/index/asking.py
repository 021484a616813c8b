"""What every group of queries stands on: one door to the rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import apsw

SOME = 500  # values in one list of a statement


class Asking(ABC):
    """Answers statements; whoever is one mends a damaged index first and asks again."""

    @abstractmethod
    def ask(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a statement that reads."""

    def one(self, statement: str, values: Sequence[object] = ()) -> Any:
        """Return the first value of the first row, ``None`` where there is no row."""
        found = self.ask(statement, values)
        return found[0][0] if found else None

    def counts(self, statement: str, values: Sequence[object] = ()) -> dict[str, int]:
        """Return a statement's rows as name -> number."""
        return {str(name): number for name, number in self.ask(statement, values)}


def rows_of(connection: apsw.Connection, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """Return all rows of a statement."""
    found: list[tuple[Any, ...]] = connection.execute(statement, tuple(values)).fetchall()
    return found


def marks(values: Sequence[object]) -> str:
    """Return the placeholders of a list."""
    return ", ".join("?" * len(values))


def parts(values: Iterable[str]) -> Iterator[list[str]]:
    """Yield distinct values in lists that are short enough for one statement."""
    found = list(dict.fromkeys(values))
    for first in range(0, len(found), SOME):
        yield found[first : first + SOME]
