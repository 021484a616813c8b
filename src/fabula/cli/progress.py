"""Progress of long work as one line that rewrites itself: files, bytes, rate, time left. For terminals alone."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

QUIET_SECONDS = 0.5  # work that ends sooner shows nothing
EVERY_SECONDS = 0.1
_ERASE = "\r\x1b[K"


class TerminalProgress:
    """Told about the work by a scan; ``write`` puts text on the terminal, ``now`` gives seconds."""

    def __init__(self, write: Callable[[str], object], now: Callable[[], float] = time.monotonic) -> None:
        self._write = write
        self._now = now
        self._files = self._size = self._all_files = self._all_size = 0
        self._began = self._shown = 0.0
        self._visible = False

    def start(self, files: int, size: int) -> None:
        """Say how much there is to read: files and bytes."""
        self._all_files, self._all_size = files, size
        self._files = self._size = 0
        self._began = self._shown = self._now()

    def advance(self, files: int, size: int) -> None:
        """Say how much more was read: files and bytes."""
        self._files += files
        self._size += size
        now = self._now()
        if now - self._began >= QUIET_SECONDS and now - self._shown >= EVERY_SECONDS:
            self._shown = now
            self._visible = True
            self._write(_ERASE + self._line(now - self._began))

    def finish(self) -> None:
        """Say that it is over: the line goes away."""
        if self._visible:
            self._write(_ERASE)
            self._visible = False

    def _line(self, seconds: float) -> str:
        rate = self._size / seconds if seconds else 0.0
        left = max(0, self._all_size - self._size) / rate if rate else 0.0
        return (
            f"reading {self._files} of {self._all_files} files, {megabytes(self._size)} of "
            f"{megabytes(self._all_size)}, {megabytes(rate)}/s, {left:.0f} s left"
        )


def megabytes(size: float) -> str:
    """A number of bytes as people read it."""
    return f"{size / 1e6:.1f} MB"
