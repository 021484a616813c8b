"""What was done between a failure and the success that ended it: the commands, edits and words of those turns. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import frozen
from fabula.record.history.actions import SHELL_TOOLS, actions, shell_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fabula.kernel.records import Block, Record
    from fabula.record.history.actions import Action

_COMMAND_LIMIT = 300
_WORDS_LIMIT = 400
_EDIT_LINES = 12


@frozen
class Step:
    """One thing that was done: ``kind`` is command, edit, call or words; ``detail`` what an edit changed."""

    record: str
    kind: str
    text: str
    detail: str = ""


def steps(records: Iterable[Record], clean: Callable[[str], str]) -> list[Step]:
    """Return what records did, in their order. Reads and other looks at things are left out.

    ``clean`` takes out what may not be shown: before a text is cut, for a mark may lie in the part that goes.
    """
    made: list[Step] = []
    for record in records:
        for block in record.blocks:
            if block.kind == "call":
                made += _call(record.uid, block, record.cwd, clean)
            elif block.kind == "text" and record.kind == "reply" and block.text.strip():
                made.append(Step(record.uid, "words", _cut(" ".join(clean(block.text).split()), _WORDS_LIMIT)))
    return made


def _call(uid: str, block: Block, folder: str, clean: Callable[[str], str]) -> list[Step]:
    if block.tool in SHELL_TOOLS:
        return [Step(uid, "command", _cut(clean(shell_text(block.input or {})).strip(), _COMMAND_LIMIT))]
    touched = actions(block, folder)
    changes = [action for action in touched if action.operation != "read"]
    if touched:
        return [Step(uid, "edit", f"{action.operation} {action.path}", _change(action, clean)) for action in changes]
    return []


def _change(action: Action, clean: Callable[[str], str]) -> str:
    """Return the lines that an edit takes and gives, as many as fit."""
    lines: list[str] = []
    for replacement in action.replacements:
        lines += ["-" + line for line in clean(replacement.old).split("\n")]
        lines += ["+" + line for line in clean(replacement.new).split("\n")]
    for hunk in action.hunks:
        old, new = _lines(hunk.old, clean), _lines(hunk.new, clean)
        lines += ["-" + line for line in old if line not in new]
        lines += ["+" + line for line in new if line not in old]
    cut = [f"… {len(lines) - _EDIT_LINES} more lines"] if len(lines) > _EDIT_LINES else []
    return "\n".join([_cut(line, 200) for line in lines[:_EDIT_LINES]] + cut)


def _lines(lines: Sequence[str], clean: Callable[[str], str]) -> list[str]:
    return clean("\n".join(lines)).split("\n") if lines else []


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
