"""A thread of one agent as plain text turns for another: who said what, and what was called and came of it. Pure.

Calls and results of another agent's tools cannot be given as calls: they stand in brackets, the call in the assistant's
words, the result in the user's, as the protocols of models have them (where one record holds both, in the assistant's).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.record.composing.choosing import Chosen, characters_of, main_path
from fabula.record.composing.parts import Copied, Told
from fabula.record.reading.arguments import arguments_text
from fabula.record.reading.sentinels import without_private

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabula.kernel.records import Block
    from fabula.record.composing.parts import Composer
    from fabula.record.loader import Loaded

ASIDE = "records beside the conversation"
THOUGHTS = "thoughts of another agent"
SILENT = "records that say nothing as text"

_ROLES = {"prompt": "user", "task": "user", "result": "user", "reply": "assistant", "call": "assistant"}
_MARKS = {"image": "[image]", "document": "[document]"}


def retell(loaded: Sequence[Loaded], composer: Composer) -> Chosen:
    """Retell a thread's records, given in reading order."""
    main, left = main_path(loaded)
    records: list[Copied] = []
    characters, answer, speaking = 0, "", ""
    for one in main:
        role = _ROLES.get(one.row.kind, "")
        text = "\n\n".join(filter(None, map(_text, one.record.blocks))) if role else ""
        if not text:
            reason = THOUGHTS if one.row.kind == "thought" else SILENT if role else ASIDE
            left[reason] = left.get(reason, 0) + 1
            continue
        answer = answer if role == speaking else one.row.uid
        speaking = role
        records.append(Copied(one.row.uid, composer.tell(Told(one.row.uid, role, text, one.row.time, answer))))
        characters += sum(map(characters_of, one.record.blocks))
    return Chosen(tuple(records), characters, dict(sorted(left.items())))


def _text(block: Block) -> str:
    if block.kind == "call":
        arguments = arguments_text(block.input) if block.input else block.text
        return f"[tool_use {block.tool}]\n{arguments}"
    if block.kind == "result":
        images = f"\n{_MARKS['image']}" * block.images
        return f"[tool_result{' failed' if block.failed else ''}]\n{block.text}{images}"
    return without_private([block.text])[0] if block.kind == "text" else _MARKS.get(block.kind, "")
