"""The verb ``help``: what the table says about a command, a group, or everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.command import GLOBAL_FLAGS
from fabula.cli.parse import nearest, usage_error
from fabula.cli.table import COMMANDS, GROUPS, commands_below, find_command
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from fabula.app.wiring import App
    from fabula.cli.command import Command


@frozen
class HelpRequest:
    """``words`` name a command or a group; none means everything."""

    words: tuple[str, ...] = ()


@frozen
class HelpLine:
    """A name and what it means."""

    name: str
    meaning: str


@frozen
class HelpResult:
    """Help on one subject; ``commands`` are what lies below it."""

    subject: str
    summary: str
    usage: str
    details: str
    arguments: list[HelpLine]
    options: list[HelpLine]
    commands: list[HelpLine]
    examples: list[str]


def show_help(app: App, request: HelpRequest) -> HelpResult:  # noqa: ARG001 - every handler is called alike
    """Return the help on some words. Raises ``ERR_USAGE`` when they name nothing."""
    command = find_command(request.words)
    if command is not None:
        return _on_command(command)
    if request.words in GROUPS or not request.words:
        return _on_group(request.words)
    name = " ".join(request.words)
    near = nearest(name, [c.name for c in COMMANDS])
    raise usage_error(f"no command is called {name!r}", near and f"fabula help {near}", "fabula help")


def _on_command(command: Command) -> HelpResult:
    return HelpResult(
        subject=f"fabula {command.name}",
        summary=command.summary,
        usage=command.usage,
        details=command.details,
        arguments=[HelpLine(a.usage, a.help) for a in command.arguments],
        options=[
            *(HelpLine(o.usage, o.help + default_note(o.default)) for o in command.options if not o.hidden),
            *(HelpLine(name, meaning) for name, meaning in GLOBAL_FLAGS.items()),
        ],
        commands=[],
        examples=list(command.examples),
    )


def default_note(default: object) -> str:
    """Say what an option is when it is not given."""
    return "" if default is None or default == "" else f" (default {default})"


def _on_group(words: tuple[str, ...]) -> HelpResult:
    name = " ".join(("fabula", *words))
    below = commands_below(words)
    return HelpResult(
        subject=name,
        summary=GROUPS.get(words, "A record, a memory and a discipline for coding agents: local, verbatim, provable."),
        usage=f"{name} COMMAND ...",
        details="",
        arguments=[],
        options=[HelpLine(flag, meaning) for flag, meaning in GLOBAL_FLAGS.items()],
        commands=[HelpLine(c.name, c.summary) for c in below],
        examples=[f"fabula help {below[0].name if words else 'record search'}"],
    )
