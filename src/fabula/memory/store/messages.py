"""What a commit says: ``memhtml(write): Use UTC in logs``, the whole reason as its body, and trailers.

``memhtml`` is the name of the format; other readers of a corpus find its history by it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.storage.git.message import message_text, one_line

if TYPE_CHECKING:
    from fabula.memory.store.values import Provenance

SUBJECT_CHARACTERS = 72
ID_CHARACTERS = 200
_ID = re.compile(r"[^\x00-\x20\x7f\x85\u2028\u2029]+")


def change_message(operation: str, subject: str, provenance: Provenance, reason: str = "") -> str:
    """Return the message of one change. ``operation`` is a word of the format: ``write``, ``correct``, ``archive`` …"""
    trailers = [
        ("Memhtml-Session", provenance.session),
        ("Memhtml-Prompt", provenance.prompt),
        ("Fabula-Reason", reason),
    ]
    return message_text(f"memhtml({operation}): {cut(subject)}", reason, trailers)


def cut(subject: str) -> str:
    """Return a subject on one line, cut to 72 characters with ``…`` at its end."""
    line = one_line(subject) or "(untitled)"
    return line if len(line) <= SUBJECT_CHARACTERS else line[: SUBJECT_CHARACTERS - 1].rstrip() + "…"


def check_provenance(provenance: Provenance) -> None:
    """Raise ``ERR_USAGE`` for an id that could be read as more than an id: blanks, line ends, or too long."""
    for what, text in (("session", provenance.session), ("prompt", provenance.prompt), ("turn", provenance.turn)):
        if text and (len(text) > ID_CHARACTERS or not _ID.fullmatch(text)):
            message = f"the {what} id {text[:40]!r} is none: up to {ID_CHARACTERS} characters without blanks"
            raise FabulaError("ERR_USAGE", message, f"leave the {what} id out, or pass it as the agent gave it")
