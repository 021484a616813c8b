"""Rows: the index of a corpus, and the state that its logs come to."""

from __future__ import annotations

from fabula.cli.command import Command, Option
from fabula.cli.commands.memory_rows import SESSION, memory_verb

_NO_EMBED = Option("--no-embed", "leave missing vectors for later searches to make")

COMMANDS: tuple[Command, ...] = (
    memory_verb(
        "index rebuild",
        "make the index anew from the files",
        module="index",
        request="Index",
        renderer="fabula.cli.render.memory_index:render",
        options=(_NO_EMBED,),
    ),
    memory_verb(
        "index update",
        "take in what changed, every file looked at",
        module="index",
        request="Index",
        renderer="fabula.cli.render.memory_index:render",
        options=(_NO_EMBED,),
        details="Other commands take in what changed by themselves, and look at a share of the files at a time.",
    ),
    memory_verb("index status", "what the index holds, and which files it cannot serve", module="index"),
    memory_verb(
        "state export",
        "commit what was read, reinforced and moved on this machine, so that others have it too",
        module="state",
        options=(SESSION,),
    ),
    memory_verb("state import", "fold all logs anew, of this machine and of others", module="state"),
)
