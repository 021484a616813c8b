"""Rows: beginning with Fabula."""

from __future__ import annotations

from fabula.cli.command import Argument, Command, Option
from fabula.cli.commands.rows import verb_row

COMMANDS: tuple[Command, ...] = (
    verb_row(
        ("init",),
        "fabula.app.init",
        "make what is missing: the home, the memory, and .fable/ of the repository you stand in",
        arguments=(
            Argument(
                "folder", "where the memory or the workspace goes, with the flag for it", "optional", metavar="DIR"
            ),
        ),
        options=(
            Option("--memory", "the memory alone"),
            Option("--workspace", "the workspace's .fable/ alone, also outside of a repository"),
        ),
        details="What is there stays as it is; a second run writes nothing. A repository of something else is refused.",
        examples=("fabula init", "fabula init --memory ~/notes/memory"),
    ),
)
