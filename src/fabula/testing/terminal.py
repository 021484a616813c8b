"""A terminal of its own for a command: what a person types at it is given, what it shows is returned."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Shown:
    """How a command on a terminal ended, what it showed there, and its standard output (which is a pipe)."""

    status: int
    terminal: str
    output: str


def on_terminal(
    command: Sequence[str],
    environment: Mapping[str, str],
    answer: str,
    *,
    question: str = "Type ",
    then: Sequence[tuple[str, str]] = (),
    seconds: float = 60,
) -> Shown:
    """Run ``command`` with a controlling terminal, and type ``answer`` once ``question`` stands there.

    ``then`` are further questions and answers, in the order in which they come.
    """
    master, slave = pty.openpty()
    process = subprocess.Popen(
        ["setsid", "--ctty", "--wait", *command],
        stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=dict(environment),
    )  # fmt: skip
    assert process.stdout is not None
    shown = {master: b"", process.stdout.fileno(): b""}
    questions = [(question, answer), *then]
    seen = 0  # bytes on the terminal before the last answer
    deadline = time.monotonic() + seconds
    os.close(slave)
    open_ends = set(shown)
    while open_ends and time.monotonic() < deadline:
        for end in select.select(list(open_ends), [], [], 0.1)[0]:
            part = _read(end)
            shown[end] += part
            if not part:
                open_ends.discard(end)
        if questions and questions[0][0].encode() in shown[master][seen:]:
            seen = len(shown[master])
            os.write(master, questions.pop(0)[1].encode() + b"\n")
        if process.poll() is not None and process.stdout.fileno() not in open_ends:
            break
    process.kill()
    status = process.wait()
    os.close(master)
    output = shown[process.stdout.fileno()]
    process.stdout.close()
    return Shown(status, shown[master].decode("utf-8", "replace"), output.decode("utf-8", "replace"))


def _read(handle: int) -> bytes:
    try:
        return os.read(handle, 65536)
    except OSError:  # the other end of a terminal is gone
        return b""
