"""What a "user" record really is: the person's words are a small part of what the host files under that type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.hosts.claude.fields import dict_of, text_of

if TYPE_CHECKING:
    from fabula.kernel.records import Block, Kind

_COMMAND = (
    "<command-name>", "<command-message>", "<local-command-stdout>", "<local-command-stderr>",
    "<local-command-caveat>", "<bash-input>", "<bash-stdout>", "<bash-stderr>",
)  # fmt: skip
_NOTICE = (
    "<task-notification>", "<system-reminder>", "<fork-boilerplate>", "<teammate-message", "<ide_opened_file>",
    "<ide_selection>", "<ide_diagnostics>", "[Request interrupted by user", "<fabula-seam", "<fable-seam",
)  # fmt: skip
_CONTINUED = "This session is being continued from a previous conversation"
_MACHINES = ("task-notification", "peer", "coordinator", "auto-continuation")


def marked_kind(text: str) -> Kind | None:
    """Return the kind that a text's opening marks, or ``None`` for plain words."""
    if text[:1] not in ("<", "[", "\n", " ", "T"):
        return None
    text = text.lstrip()
    if text.startswith(_COMMAND):
        return "command"
    if text.startswith(_NOTICE):
        return "notice"
    return "summary" if text.startswith(_CONTINUED) else None


def user_kind(
    blocks: list[Block], compacted: object, interrupted: object, origin: object, meta: object, from_agent: bool
) -> Kind:
    """Classify a user record by its blocks and what the host says of it.

    ``compacted`` to ``meta`` are its fields ``isCompactSummary``, ``interruptedMessageId``, ``origin``, ``isMeta``;
    ``from_agent``: its plain words come from a parent agent, not from a person. Marked text that stands before the
    person's words in one record becomes a block of kind ``other``.
    """
    for block in blocks:
        if block.kind == "result":
            return "result"
    if compacted is True:
        return "summary"
    if interrupted:
        return "notice"
    marks = [(block, marked_kind(block.text)) for block in blocks if block.kind == "text"]
    if marks and all(mark for _, mark in marks):
        return marks[0][1] or "notice"
    if text_of(dict_of(origin).get("kind")) in _MACHINES or meta is True:
        return "notice"
    for block, mark in marks:
        if mark:
            block.kind = "other"
    if not blocks:
        return "other"
    return "task" if from_agent else "prompt"
