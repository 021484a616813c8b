"""What the message of a commit says of itself: its operation, its subject, the session that made it. Pure.

Form: ``memhtml(<op>): <subject>``, with the trailers ``Memhtml-Session`` and ``Memhtml-Prompt``.
"""

from __future__ import annotations

import re

_SUBJECT = re.compile(r"(?:memhtml|fabula)\(([a-z-]+)\): (.*)", re.DOTALL)
_SESSION = re.compile(r"^(?:Memhtml|Fabula)-Session: (.+)$", re.MULTILINE)
SUBJECT_LIMIT = 72  # characters of a subject behind its operation


def operation_of(subject: str) -> tuple[str, str]:
    """Return (operation, rest) of a subject; a commit made by hand has the operation ``""``."""
    match = _SUBJECT.fullmatch(subject)
    return (match[1], match[2]) if match else ("", subject)


def session_of(message: str) -> str:
    """Return the session that a commit names, empty when it names none."""
    match = _SESSION.search(message.rsplit("\n\n", 1)[-1])
    return match[1].strip() if match else ""


def subject_of(operation: str, text: str) -> str:
    """Write a subject; a long one is cut, and an empty one says that there is none."""
    line = " ".join(text.split()) or "(untitled)"
    if len(line) > SUBJECT_LIMIT:
        line = f"{line[: SUBJECT_LIMIT - 1].rstrip()}…"
    return f"memhtml({operation}): {line}"
