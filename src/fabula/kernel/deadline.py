"""A bound on a computation that cannot be asked to stop: a regular expression may take longer than anybody waits.

By the timer of the process, so on POSIX systems and in the main thread alone; elsewhere nothing is bounded. The regular
expressions of the standard library look at signals while they search.
"""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise ``TimeoutError`` inside of what takes longer than ``seconds``."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - as a handler is called
    raise TimeoutError
