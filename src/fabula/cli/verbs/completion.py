"""The verb ``completion``: a script by which a shell completes the command line, written from the command table."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from fabula.cli.command import GLOBAL_FLAGS
from fabula.cli.table import COMMANDS, find_command, names_below
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabula.app.wiring import App
    from fabula.cli.command import Command, Option

SHELLS = ("bash", "zsh", "fish")
#: Whether the words typed so far, options apart, begin with some words.
_FISH_HEAD = (
    "# fabula completion fish | source",
    "function __fabula_at",
    "    set -l words (string match -v -- '-*' (commandline -opc)[2..])",
    "    if test (count $argv) -eq 0; test (count $words) -eq 0; return; end",
    '    test (count $words) -ge (count $argv); and test "$words[1..(count $argv)]" = "$argv"',
    "end",
)


@frozen
class CompletionRequest:
    """``shell``: one of :data:`SHELLS`."""

    shell: str


@frozen
class CompletionResult:
    """The script, to be read by the shell when it starts."""

    shell: str
    script: str


def completion(app: App, request: CompletionRequest) -> CompletionResult:  # noqa: ARG001 - handlers are called alike
    """Return the script for a shell."""
    script = {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}[request.shell]()
    return CompletionResult(request.shell, script)


def places() -> list[tuple[str, ...]]:
    """Return every beginning of a command's words, the empty one first."""
    found = {command.path[:length] for command in COMMANDS for length in range(len(command.path) + 1)}
    return sorted(found)


def bash_script() -> str:
    """Return the script for bash: the words typed so far lead to a place in the table, which names what may follow."""
    steps = [f"{quote(' '.join(place))}) at=$next;;" for place in places() if place]
    words = [f"{quote(' '.join(place))}) words={quote(' '.join(_words(place)))};;" for place in places()]
    values = [
        f"{quote(f'{name} {option}')}) words={quote(' '.join(choices))};;" for name, option, choices in _choices()
    ]
    return "\n".join(
        [
            '# fabula completion bash: eval "$(fabula completion bash)"',
            "_fabula() {",
            "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} at='' next words='' i",
            "  for ((i = 1; i < COMP_CWORD; i++)); do",
            '    next="${at:+$at }${COMP_WORDS[i]}"',
            '    case "$next" in',
            *(f"      {line}" for line in steps),
            "    esac",
            "  done",
            '  case "$at" in',
            *(f"    {line}" for line in words),
            "  esac",
            '  case "$at $prev" in',
            *(f"    {line}" for line in values),
            "  esac",
            '  COMPREPLY=($(compgen -W "$words" -- "$cur"))',
            "}",
            "complete -o default -F _fabula fabula",
            "",
        ]
    )


def zsh_script() -> str:
    """Return the script for zsh, which understands bash's once it is told to."""
    begin = ["#compdef fabula", "autoload -U +X compinit bashcompinit", "compinit", "bashcompinit"]
    return "\n".join([*begin, bash_script()])


def fish_script() -> str:
    """Return the script for fish: a line for each word and each option, with what it means."""
    lines = [*_FISH_HEAD]
    for place in places():
        condition = f"-n {_fish(' '.join(('__fabula_at', *place)))}"
        command = find_command(place)
        lines += [f"complete -c fabula -f {condition} -a {_fish(word)}" for word in names_below(place)]
        for option in _shown(command) if command is not None else ():
            values = f" -f -a {_fish(' '.join(option.choices))}" if option.choices else ""
            takes = "" if option.kind == "flag" else f" -r{values}"
            name = option.name.removeprefix("--")
            lines.append(f"complete -c fabula {condition} -l {name}{takes} -d {_fish(option.help)}")
    return "\n".join([*lines, ""])


def _words(place: tuple[str, ...]) -> list[str]:
    """Return what may follow some words: further words, options, and words that an argument is one of."""
    command = find_command(place)
    if command is None:
        return names_below(place)
    choices = [word for argument in command.arguments for word in argument.choices]
    return [*names_below(place), *choices, *(option.name for option in _shown(command)), *GLOBAL_FLAGS]


def _choices() -> Iterable[tuple[str, str, tuple[str, ...]]]:
    for command in COMMANDS:
        for option in command.options:
            if option.choices:
                yield command.name, option.name, option.choices


def _shown(command: Command) -> list[Option]:
    return [option for option in command.options if not option.hidden]


def _fish(text: str) -> str:
    """Return a text as one word of fish: in single quotes, where only quotes and backslashes are special."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
