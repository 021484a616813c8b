"""Applying an edit to a text, and taking it back. Pure; ``None`` always means that it cannot be done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.record.history.patches import Hunk, apply_hunks

if TYPE_CHECKING:
    from fabula.record.history.actions import Action, Replacement


def applied(action: Action, text: str | None) -> str | None:
    """Return the contents after an action, given those before it (``None``: not known, or no file)."""
    if action.operation == "write" and not action.append:
        return action.content
    if action.operation == "write":
        return None if text is None or action.content is None else text + action.content
    if action.insert_after >= 0:
        return _inserted(text, action)
    if action.operation == "patch":
        return None if text is None else apply_hunks(text, action.hunks)
    if not action.replacements:
        return None
    for replacement in action.replacements:
        text = _replaced(text, replacement)
        if text is None:
            return None
    return text


def inverted(action: Action, text: str) -> str | None:
    """Return the contents before an edit, given those after it.

    A write, a replacement everywhere and one by or of nothing cannot be taken back; neither can one whose result
    stands in the text more than once.
    """
    if action.operation == "patch":
        return apply_hunks(text, [_swapped(hunk) for hunk in action.hunks]) if action.hunks else None
    if action.operation != "edit" or not action.replacements or action.insert_after >= 0:
        return None
    for replacement in reversed(action.replacements):
        if replacement.everywhere or not replacement.old or not replacement.new or text.count(replacement.new) != 1:
            return None
        text = text.replace(replacement.new, replacement.old)
    return text


def _swapped(hunk: Hunk) -> Hunk:
    return Hunk("", hunk.new, hunk.old, hunk.at_end)


def _replaced(text: str | None, replacement: Replacement) -> str | None:
    if not replacement.old:  # an edit of nothing makes a new file
        return replacement.new if not text else None
    if text is None or replacement.old not in text:
        return None
    return text.replace(replacement.old, replacement.new, -1 if replacement.everywhere else 1)


def _inserted(text: str | None, action: Action) -> str | None:
    if text is None or action.content is None:
        return None
    lines = text.splitlines(keepends=True)
    if action.insert_after > len(lines):
        return None
    piece = action.content if action.content.endswith("\n") else action.content + "\n"
    return "".join([*lines[: action.insert_after], piece, *lines[action.insert_after :]])
