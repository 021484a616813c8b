"""The consent of a person: a word typed at the controlling terminal. No flag and no pipe stands in for it.

Agents run commands without a terminal of their own, so what is lost for good cannot be lost by one of them on its own
account. Who controls a terminal of the user can do all that the user can: that is the limit of it.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TERMINAL = "CON" if sys.platform == "win32" else "/dev/tty"
_LIMIT = 200  # characters of an answer that are read


def require_consent(lines: Sequence[str], word: str, again: str) -> None:
    """Show a person what will be lost and let them type ``word``; return only when they did.

    ``again`` is the command that a person can run. Raises ``ERR_CONSENT`` when there is no terminal, when this process
    is not in its foreground, or when anything else was typed.
    """
    advice = f"run it yourself, in a terminal: {again}"
    with _terminal(advice) as handle:
        _say(handle, "".join(f"{_plain(line)}\n" for line in lines))
        _say(handle, f"Type {word} to go on, anything else to leave everything as it is: ")
        if _answer(handle) != word:
            raise FabulaError("ERR_CONSENT", f"{word!r} was not typed: nothing was changed", advice)


def show(lines: Sequence[str], advice: str) -> None:
    """Write lines to the person's terminal alone: into no pipe and no file. Raises as :func:`require_consent`."""
    with _terminal(advice) as handle:
        _say(handle, "".join(f"{_plain(line)}\n" for line in lines))


def ask_secret(question: str, advice: str) -> str:
    """Let a person type a secret at the terminal, which does not show it. Raises as :func:`require_consent`."""
    import termios

    with _terminal(advice) as handle:
        before = termios.tcgetattr(handle)
        silent = [*before[:3], before[3] & ~termios.ECHO, *before[4:]]
        try:
            termios.tcsetattr(handle, termios.TCSAFLUSH, silent)
            _say(handle, question)
            return _answer(handle)
        finally:
            termios.tcsetattr(handle, termios.TCSAFLUSH, before)
            _say(handle, "\n")


@contextmanager
def _terminal(advice: str) -> Iterator[int]:
    """Open the controlling terminal of a process in its foreground."""
    try:
        handle = os.open(TERMINAL, os.O_RDWR | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0))
    except OSError as error:
        raise FabulaError("ERR_CONSENT", "this needs the consent of a person at a terminal", advice) from error
    try:
        if not _in_foreground(handle):
            raise FabulaError("ERR_CONSENT", "this needs the consent of a person, and runs in the background", advice)
        yield handle
    finally:
        os.close(handle)


def _in_foreground(handle: int) -> bool:
    """Say whether this process may read from the terminal: one in the background would be stopped by it."""
    if not hasattr(os, "tcgetpgrp"):
        return True
    try:
        return os.tcgetpgrp(handle) == os.getpgrp()
    except OSError:
        return False


def _plain(text: str) -> str:
    """Return a line without control characters: what a transcript holds must not draw on the terminal."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def _say(handle: int, text: str) -> None:
    view = memoryview(text.encode("utf-8", "replace"))
    while view:
        view = view[os.write(handle, view) :]


def _answer(handle: int) -> str:
    """Read one line as the terminal gives it."""
    typed = b""
    while not typed.endswith(b"\n") and len(typed) < _LIMIT:
        part = os.read(handle, _LIMIT)
        if not part:
            break
        typed += part
    return typed.decode("utf-8", "replace").strip()
