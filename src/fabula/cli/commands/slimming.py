"""Rows: making transcripts smaller, and back."""

from __future__ import annotations

from fabula.cli.command import Argument, Command, Option
from fabula.cli.commands.rows import record_verb

_SESSION = Argument("session", "a session's id, a beginning of it that is unique, or a transcript's path")
_APPLY = Option("--apply", "write it; without it the effect is shown and nothing is changed")
_LIVE = Option("--live", "also while the session is in use: you are asked at the terminal")

COMMANDS: tuple[Command, ...] = (
    record_verb(
        "prune",
        "slim a session's transcript; every record stays sealed and readable",
        arguments=(_SESSION,),
        options=(
            _APPLY,
            Option(
                "--mode", "resume keeps compaction walls, extract takes them out", "choice", "resume",
                choices=("resume", "extract"),
            ),
            Option("--strip-images", "take pictures and documents out as well"),
            Option("--only", "nothing but these categories, joined by commas", "text", repeat=True, metavar="CATEGORY"),
            Option("--skip", "not these categories, joined by commas", "text", repeat=True, metavar="CATEGORY"),
            _LIVE,
        ),
        details="Shows what each category would save; --apply rewrites the transcript. What is taken out was sealed "
        "before, byte for byte: record block, thread and search still serve it, and record undo puts it back. The "
        "session still opens in its agent. Only Claude Code's transcripts can be slimmed.",
        examples=("fabula record prune 3f2a", "fabula record prune 3f2a --skip results --strip-images --apply"),
    ),
    record_verb(
        "undo",
        "take the last rewriting of a transcript back, keeping what was added since",
        arguments=(_SESSION,),
        options=(_APPLY, _LIVE),
        details="Undoes prune and excise. Repeated, it goes back further.",
    ),
    record_verb(
        "diff",
        "what a rewriting did to a session's file, record by record",
        arguments=(
            Argument("target", "a session's id or the path of a file that was sealed", metavar="SESSION|PATH"),
            Argument("generations", "two generations by their numbers; without them the last two", "any",
                     metavar="GENERATION"),
        ),
        options=(Option("--limit", "how many records of each list are shown", "int", 20, least=0),),
        examples=("fabula record diff 3f2a", "fabula record diff 3f2a 0 2"),
    ),
)  # fmt: skip
