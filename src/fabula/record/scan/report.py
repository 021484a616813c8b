"""What a scan did, and how it says so while it runs."""

from __future__ import annotations

from typing import Protocol

from fabula.kernel.values import define, field


@define
class ScanReport:
    """Totals of one scan."""

    files_seen: int = 0
    files_read: int = 0
    files_unchanged: int = 0
    files_failed: int = 0
    files_vanished: int = 0
    bytes_read: int = 0
    records_added: int = 0
    pending_files: int = 0  # left for the next scan because the budget ran out
    searchable_characters: int = 0
    problems: list[tuple[str, str]] = field(default_factory=list)  # path, reason

    @property
    def complete(self) -> bool:
        """Whether everything that was found has been read."""
        return self.pending_files == 0


class Progress(Protocol):
    """Told about the work as it goes on."""

    def start(self, files: int, size: int) -> None:
        """Say how much there is to read."""
        ...

    def advance(self, files: int, size: int) -> None:
        """Say how much more was read."""
        ...

    def finish(self) -> None:
        """Say that it is over."""
        ...


class Silent:
    """Says nothing."""

    def start(self, files: int, size: int) -> None:
        """Ignore."""

    def advance(self, files: int, size: int) -> None:
        """Ignore."""

    def finish(self) -> None:
        """Ignore."""
