"""What an export is made of, whatever its format: a title, facts, and threads as readers see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.clock import format_time
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from fabula.record.reading.turns import ThreadView, Turn

MADE_WITH = "Made with Fabula"

_PICTURES = {code: chr(0x2400 + code) for code in range(32) if code not in (9, 10)} | {127: "␡"}
_PICTURES |= dict.fromkeys([*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)], "\ufffd")


@frozen
class Document:
    """A session or one of its threads. ``facts`` are (name, value) pairs that head it; empty values are left out."""

    title: str
    facts: tuple[tuple[str, str], ...]
    threads: tuple[ThreadView, ...]


@frozen
class Section:
    """A run of turns under a label; the main path's label is empty."""

    label: str
    turns: tuple[Turn, ...]


def sections(view: ThreadView) -> list[Section]:
    """Return a thread's parts in the order in which every export shows them."""
    found = [Section("", view.main)]
    found += [Section("Edit-branch (abandoned retry)", branch) for branch in view.branches]
    for chain in view.sidechains:
        started = f", started by {chain.spawned_by}" if chain.spawned_by else ""
        found.append(Section(f"Sidechain (subagent {chain.session}{started})", chain.turns))
    return [section for section in found if section.turns]


def turn_title(turn: Turn) -> str:
    """Return what heads a turn: its kind, the time to the second, and its id."""
    moment = format_time(turn.time)[:19].replace("T", " ")
    return " · ".join(part for part in (turn.kind, moment, turn.uid) if part)


def visible(text: str) -> str:
    """Show control characters and overrides of the text direction as signs, so that they cannot act."""
    return text.replace("\r\n", "\n").translate(_PICTURES)
