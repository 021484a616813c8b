"""Progress is one line that rewrites itself, and nothing at all for short work."""

from __future__ import annotations

from fabula.cli.progress import TerminalProgress


class Watch:
    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def test_short_work_shows_nothing() -> None:
    shown: list[str] = []
    watch = Watch()
    progress = TerminalProgress(shown.append, watch)
    progress.start(2, 10)
    watch.seconds += 0.2
    progress.advance(2, 10)
    progress.finish()
    assert shown == []


def test_long_work_shows_files_bytes_rate_and_time_left_and_clears_the_line() -> None:
    shown: list[str] = []
    watch = Watch()
    progress = TerminalProgress(shown.append, watch)
    progress.start(10, 100_000_000)
    for _ in range(4):
        watch.seconds += 1
        progress.advance(1, 10_000_000)
    progress.advance(0, 1)  # too soon after the last line
    progress.finish()
    assert len(shown) == 5
    assert shown[0] == "\r\x1b[Kreading 1 of 10 files, 10.0 MB of 100.0 MB, 10.0 MB/s, 9 s left"
    assert shown[-1] == "\r\x1b[K"
