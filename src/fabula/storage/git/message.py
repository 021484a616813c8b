"""A commit's message: a subject, a body, trailers; nothing in one can be read as another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError

if TYPE_CHECKING:
    from collections.abc import Iterable

BODY_LIMIT = 16_384  # characters
TRAILER_LIMIT = 1_024

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_LIKE_A_TRAILER = re.compile(r"^(?=[A-Za-z0-9-]+\s*:|\(cherry picked|---|#)", re.MULTILINE)


def message_text(subject: str, body: str = "", trailers: Iterable[tuple[str, str]] = ()) -> str:
    """Return the text of a commit.

    The subject becomes one line. Lines of the body that git would read as trailers are indented by a space. A trailer's
    value becomes one line; one without a value is left out. Raises ``ERR_USAGE`` for a trailer whose name is none.
    """
    parts = [one_line(subject) or "(untitled)"]
    text = _LIKE_A_TRAILER.sub(" ", "\n".join(_plain(line).rstrip() for line in body[:BODY_LIMIT].splitlines()).strip())
    if text:
        parts.append(text)
    rows = []
    for key, value in trailers:
        if not _KEY.fullmatch(key):
            raise FabulaError("ERR_USAGE", f"{key!r} is no name of a trailer")
        if line := one_line(value)[:TRAILER_LIMIT]:
            rows.append(f"{key}: {line}")
    if rows:
        parts.append("\n".join(rows))
    return "\n\n".join(parts) + "\n"


def one_line(text: str) -> str:
    """Join the words of a text by single spaces."""
    return " ".join(_plain(text).split())


def _plain(text: str) -> str:
    """Leave out control characters, and replace what is not valid text."""
    valid = text.encode("utf-8", "replace").decode()
    return "".join(letter if letter.isprintable() or letter.isspace() else " " for letter in valid)
