"""A bound on what cannot be asked to stop."""

from __future__ import annotations

import re
import signal
import time
from threading import Thread

import pytest

from fabula.kernel.deadline import within

posix = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer of the process")


@posix
def test_an_expression_that_would_take_years_is_stopped() -> None:
    begun = time.monotonic()
    with pytest.raises(TimeoutError), within(0.05):
        re.search(r"(a+)+$", "a" * 60 + "b")
    assert time.monotonic() - begun < 5


@posix
def test_what_ends_in_time_is_left_alone_and_so_is_whoever_used_the_timer_before() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with within(0.02):
        pass
    time.sleep(0.04)
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_another_thread_is_not_bounded() -> None:
    done: list[bool] = []

    def run() -> None:
        with within(0.01):
            time.sleep(0.03)
        done.append(True)

    thread = Thread(target=run)
    thread.start()
    thread.join()
    assert done == [True]
