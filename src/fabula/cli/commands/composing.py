"""Rows: making sessions of others, and taking threads out of them."""

from __future__ import annotations

from fabula.cli.command import Argument, Command, Option
from fabula.cli.commands.rows import record_verb

_APPLY = Option("--apply", "do it; without this the command only shows what it would do")

COMMANDS: tuple[Command, ...] = (
    record_verb(
        "compose",
        "make a new session, to be resumed, out of chosen threads",
        arguments=(
            Argument(
                "threads", "threads in the order wanted; a session stands for all its threads", "some", metavar="THREAD"
            ),
        ),
        options=(
            Option("--title", "what the new session is called", "text"),
            Option("--cwd", "the folder that it belongs to; without it the first thread's", "path", metavar="DIR"),
            Option("--cards", "take the threads' cards instead of their records"),
            Option("--no-thoughts", "leave the agent's thoughts out"),
            _APPLY,
        ),
        details="The sources stay as they are. Every record gets new ids: nothing is merged, and no cost counts twice.",
        examples=(
            'fabula record compose 3f2a 9c01 --title "Limiter, from the start"',
            "fabula record compose 3f2a --apply",
        ),
    ),
    record_verb(
        "excise",
        "take whole threads out of a session's file; without THREAD show which could go",
        arguments=(
            Argument("session", "a session: its id, a beginning of it that is unique, or its file"),
            Argument("threads", "threads of that session", "any", metavar="THREAD"),
        ),
        options=(_APPLY, Option("--live", "also while the session is in use: you are asked at the terminal")),
        details="What goes stays in the record, sealed; fabula record undo SESSION puts it back.",
        examples=("fabula record excise 3f2a", "fabula record excise 3f2a 9c01 --apply"),
    ),
)
