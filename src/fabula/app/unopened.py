"""A source that is imported when it is needed: most people use one or two of the many coding agents."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from fabula.kernel.records import SourceFile
    from fabula.record.sources import Container, Normaliser, Source


class Unopened:
    """A source of ``host`` that is made when one of its ``places`` exists, or when its records are read.

    Where none exists there is nothing to find. What a source may have beside the protocol is asked of the real one.
    """

    def __init__(self, host: str, places: Sequence[Path], make: Callable[[], Source]) -> None:
        self.host = host
        self._places = places
        self._make = make

    @cached_property
    def opened(self) -> Source:
        """The source itself."""
        return self._make()

    def _is_needed(self) -> bool:
        return "opened" in self.__dict__ or any(place.exists() for place in self._places)

    def discover(self) -> Iterator[SourceFile]:
        """Find the files by name and stat alone."""
        return self.opened.discover() if self._is_needed() else iter(())

    def groups(self) -> Iterator[Sequence[SourceFile]]:
        """Find the files in the groups that the source knows, else in one."""
        if self._is_needed():
            from fabula.record.scan.finding import groups_of

            yield from groups_of(self.opened)

    def problems(self) -> list[tuple[str, str]]:
        """Return (path, reason) of what the last discovery could not look into."""
        return self.opened.problems() if "opened" in self.__dict__ else []

    def container(self, file: SourceFile) -> Container:
        """Open a file's byte form. Raises ``OSError``."""
        return self.opened.container(file)

    def normaliser(self, file: SourceFile, state: dict[str, Any] | None) -> Normaliser:
        """Return a normaliser that goes on from ``state``."""
        return self.opened.normaliser(file, state)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.opened, name)
