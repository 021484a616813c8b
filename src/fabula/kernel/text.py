"""Making text safe to store: valid Unicode, no NUL."""

from __future__ import annotations


def storable(text: str) -> str:
    """Replace what SQLite and UTF-8 cannot hold: lone surrogates become U+FFFD, NUL a space."""
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\0", " ") if "\0" in text else text
