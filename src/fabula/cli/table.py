"""The one command table: every command of Fabula, and how to look one up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.commands import (
    beginning,
    composing,
    finding,
    general,
    importing,
    keeping,
    memory_history,
    memory_joints,
    memory_keeping,
    memory_reading,
    memory_writing,
    reading,
    slimming,
    vault,
)

if TYPE_CHECKING:
    from fabula.cli.command import Command

#: In the order in which help shows them.
COMMANDS: tuple[Command, ...] = (
    *beginning.COMMANDS,
    *finding.COMMANDS,
    *reading.COMMANDS,
    *keeping.COMMANDS,
    *slimming.COMMANDS,
    *composing.COMMANDS,
    *vault.COMMANDS,
    *memory_reading.COMMANDS,
    *memory_writing.COMMANDS,
    *memory_joints.COMMANDS,
    *memory_keeping.COMMANDS,
    *memory_history.COMMANDS,
    *importing.COMMANDS,
    *general.COMMANDS,
)

#: Groups of commands and what they are about.
GROUPS: dict[tuple[str, ...], str] = {
    ("import",): "Taking over what other memories hold.",
    ("memory",): "What was learned: one fact a file, in a git repository of your own.",
    ("memory", "index"): "The index of the memory: derived from its files.",
    ("memory", "state"): "What was read and reinforced: shared through the memory's repository.",
    ("memory", "task"): "Tasks: memories that have a state.",
    ("record",): "What happened: every session of your coding agents, byte for byte.",
    ("vault",): "The vault: copies of it, and what it may let go.",
}

_BY_PATH = {command.path: command for command in COMMANDS}


def find_command(path: tuple[str, ...]) -> Command | None:
    """Return the command called by exactly these words."""
    return _BY_PATH.get(path)


def find_group(path: tuple[str, ...]) -> bool:
    """Say whether these words name a group of commands."""
    return path in GROUPS


def commands_below(path: tuple[str, ...]) -> tuple[Command, ...]:
    """Return the commands whose words begin with ``path``."""
    return tuple(command for command in COMMANDS if command.path[: len(path)] == path)


def names_below(path: tuple[str, ...]) -> list[str]:
    """Return the words that may follow ``path``."""
    return list(dict.fromkeys(c.path[len(path)] for c in commands_below(path) if len(c.path) > len(path)))
