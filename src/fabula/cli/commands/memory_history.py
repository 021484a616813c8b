"""Rows: what deals with the git history of a corpus: merging, committing by hand, forgetting."""

from __future__ import annotations

from fabula.cli.command import Argument, Command, Option
from fabula.cli.commands.memory_rows import ALLOW_SECRET, CORPUS, SESSION

COMMANDS: tuple[Command, ...] = (
    Command(
        path=("memory", "merge"),
        summary="take another branch, or a clone that was fetched, into this memory",
        result="memory.merge",
        handler="fabula.app.memory.merge:merge",
        request="fabula.app.memory.merge:MergeRequest",
        renderer="fabula.cli.render.memory_merge:render",
        arguments=(Argument("ref", "any name that git knows: origin/main, a branch, a commit"),),
        options=(SESSION, CORPUS),
        details="Tags, entities, aliases and links of both sides are joined; of values that both changed the rules of "
        "the format decide; an article is taken from the side that changed it. What both changed is named, all of "
        "it, and then nothing is changed.",
        examples=("fabula memory merge origin/main",),
    ),
    Command(
        path=("memory", "commit"),
        summary="check memory files that you changed with an editor, and commit exactly them",
        result="memory.commit",
        handler="fabula.app.memory.commit:commit",
        request="fabula.app.memory.commit:CommitRequest",
        renderer="fabula.cli.render.memory_commit:render",
        arguments=(Argument("paths", "files or folders of the memory; none: all that changed", "any", metavar="PATH"),),
        options=(
            Option("--dry-run", "show what changed and what is wrong with it; commit nothing"),
            ALLOW_SECRET,
            SESSION,
            CORPUS,
        ),
        examples=("fabula memory commit --dry-run", "fabula memory commit areas/inbox"),
    ),
    Command(
        path=("memory", "forget"),
        summary="remove a memory, or a text, from the memory and its whole history, with your consent",
        result="memory.forget",
        handler="fabula.app.memory.forget:forget",
        request="fabula.app.memory.forget:ForgetRequest",
        renderer="fabula.cli.render.memory_forget:render",
        arguments=(Argument("targets", "memories by their paths, present or past", "any", metavar="PATH"),),
        options=(
            Option("--text", "whatever holds this text, in any version", "text", ""),
            Option("--apply", "ask for consent at the terminal, then do it; without it nothing is changed"),
            CORPUS,
        ),
        details="All branches, tags and stashes are written anew without it, and the old history is cleared out of the "
        "repository; commits get other ids. What remotes still hold is named, with the commands that replace it there. "
        "Sessions that were told of it are the record's: see fabula record forget.",
        examples=(
            "fabula memory forget areas/inbox/old-address.html",
            "fabula memory forget --text hunter2 --apply",
        ),
    ),
)
