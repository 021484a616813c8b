"""A thread's card as the text that stands for the thread in a composed session. Pure."""

from __future__ import annotations

import json
from typing import Any

#: Fields of a card that say what came of the thread, with their headings, in the order in which they are shown.
_FIELDS = (
    ("outcome", "Outcome"), ("summary", "Summary"), ("decisions", "Decisions"), ("lessons", "Lessons"),
    ("gotchas", "Gotchas"), ("directives", "Directives"), ("open_questions", "Open questions"), ("files", "Files"),
)  # fmt: skip


def card_text(card: str) -> str:
    """Return a card (JSON, as kept) as text; a card of an unknown form is given as it is."""
    try:
        value = json.loads(card)
    except ValueError:
        return card
    if not isinstance(value, dict):
        return card
    kind = value.get("type")
    title = f"{_words(value.get('title'))}{f' ({kind})' if isinstance(kind, str) and kind else ''}"
    lines = [title] if title.strip() else []
    for name, heading in _FIELDS:
        lines += _lines(heading, value.get(name))
    return "\n".join(lines) or card


def _lines(heading: str, value: Any) -> list[str]:
    if isinstance(value, list):
        items = [_words(item) for item in value if _words(item)]
        return [f"{heading}:", *(f"- {item}" for item in items)] if items else []
    return [f"{heading}: {_words(value)}"] if _words(value) else []


def _words(value: Any) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""
