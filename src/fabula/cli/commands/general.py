"""Rows: Fabula itself."""

from __future__ import annotations

from fabula.cli.command import Argument, Command, Option
from fabula.cli.commands.rows import verb_row

COMMANDS: tuple[Command, ...] = (
    verb_row(("status",), "fabula.app.status", "where Fabula stands: home, sources, vault, map"),
    verb_row(
        ("doctor",),
        "fabula.app.doctor",
        "check that everything works and say what to do where it does not",
        options=(
            Option("--fix", "repair what can be without a loss: relations of memories, their index, their log"),
            Option("--corpus", "look at the memory in this folder, not at the configured one", "path", metavar="DIR"),
        ),
    ),
    verb_row(
        ("config",),
        "fabula.app.settings",
        "every setting, its value and where it came from",
        handler="fabula.app.settings:settings",
        request="fabula.app.settings:SettingsRequest",
        renderer="fabula.cli.render.config:render",
        arguments=(Argument("key", "show this setting alone", "optional"),),
    ),
    verb_row(
        ("off",),
        "fabula.app.switch",
        "switch Fabula off for a project",
        handler="fabula.app.switch:switch_off",
        request="fabula.app.switch:SwitchRequest",
        renderer="fabula.cli.render.switch:render",
        arguments=(Argument("folder", "the project; without it the one you are in", "optional"),),
    ),
    verb_row(
        ("on",),
        "fabula.app.switch",
        "switch Fabula on again for a project",
        handler="fabula.app.switch:switch_on",
        request="fabula.app.switch:SwitchRequest",
        renderer="fabula.cli.render.switch:render",
        arguments=(Argument("folder", "the project; without it the one you are in", "optional"),),
    ),
    verb_row(
        ("purge",),
        "fabula.app.purge",
        "remove all of Fabula's data, with your consent",
        options=(Option("--apply", "ask for consent at the terminal, then do it; without it nothing is changed"),),
        details="Only files that are known to be Fabula's go. The transcripts of your agents stay as they are.",
    ),
    verb_row(
        ("completion",),
        "fabula.cli.verbs.completion",
        "a script by which your shell completes commands, options and their words",
        arguments=(Argument("shell", "your shell", choices=("bash", "zsh", "fish")),),
        examples=('eval "$(fabula completion bash)"', "fabula completion fish | source"),
    ),
    verb_row(("manifest",), "fabula.cli.verbs.manifest", "every command, code and format, for programs"),
    verb_row(
        ("help",),
        "fabula.cli.verbs.help",
        "what a command does and takes",
        handler="fabula.cli.verbs.help:show_help",
        arguments=(Argument("words", "the command's words", "any", metavar="COMMAND"),),
    ),
    verb_row(
        ("version",),
        "fabula.cli.verbs.version",
        "the version of Fabula and of what it stands on",
        handler="fabula.cli.verbs.version:show_version",
    ),
)
