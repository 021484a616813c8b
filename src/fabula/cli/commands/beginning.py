"""Rows: beginning with Fabula."""

from __future__ import annotations

from fabula.app.memory.words import WRITABLE_TYPES
from fabula.cli.command import Argument, Command, Option
from fabula.cli.commands.memory_rows import ALLOW_SECRET, CORPUS, SESSION, TAG
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
    verb_row(
        ("remember",),
        "fabula.app.remember",
        "keep one fact: the first sentence is the claim, the rest stands behind it",
        arguments=(Argument("text", "what should be known next time; - reads standard input", "some", joined=True),),
        options=(
            Option("--type", "what kind of memory it is", "choice", "semantic", choices=WRITABLE_TYPES),
            Option("--title", "its title; without it the beginning of the claim", "text", ""),
            TAG,
            Option("--workspace", "the project it belongs to; without it the repository you stand in", "text", ""),
            Option("--everywhere", "it belongs to no project"),
            SESSION,
            ALLOW_SECRET,
            CORPUS,
        ),
        details="What is known already is not written again. `memory write` has more to say about a memory.",
        examples=(
            "fabula remember 'Tests need REDIS_URL set. Without it they hang for a minute.'",
            "git log -1 --format=%B | fabula remember - --tag decisions",
        ),
    ),
)
