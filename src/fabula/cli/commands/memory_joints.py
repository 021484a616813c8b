"""Rows: where memory and record meet."""

from __future__ import annotations

from fabula.cli.command import Argument, Command, Option
from fabula.cli.commands.memory_rows import CORPUS
from fabula.cli.commands.rows import ALL

_JOINTS = "fabula.app.joints"
_RENDER = "fabula.cli.render"

COMMANDS: tuple[Command, ...] = (
    Command(
        path=("recall",),
        summary="what memory and record say about a question, in one text under a token budget",
        result="recall",
        handler=f"{_JOINTS}.recalling:recall",
        request=f"{_JOINTS}.recalling:RecallRequest",
        renderer=f"{_RENDER}.recall:render",
        arguments=(Argument("query", "words to look for, with the filters of record search", "some", joined=True),),
        options=(
            Option("--budget", "tokens to spend", "int", least=200, metavar="TOKENS"),
            Option("--limit", "how many memories at most", "int", least=1),
            ALL,
            Option("--session", "the session that asks: its own words are not recalled to it", "text", ""),
            CORPUS,
        ),
        query=True,
        details="Memories come first, then passages of the record, each with its source. The text is marked as "
        "recalled, so that it is neither obeyed nor found again.",
        examples=("fabula recall how do we deploy --budget 1500", "fabula recall 'why two clocks' --all --json"),
    ),
    Command(
        path=("memory", "links"),
        summary="the memories that a session wrote, read, corrected or judged",
        result="memory.links",
        handler=f"{_JOINTS}.session_memories:links",
        request=f"{_JOINTS}.session_memories:LinksRequest",
        renderer=f"{_RENDER}.memory_links:render",
        arguments=(Argument("session", "a session: its id, or a beginning of it that is unique"),),
        options=(CORPUS,),
    ),
    Command(
        path=("memory", "sources"),
        summary="what a memory cites, resolved to the record's own words, also after a transcript is gone",
        result="memory.sources",
        handler=f"{_JOINTS}.citing_memory:sources",
        request=f"{_JOINTS}.citing_memory:SourcesRequest",
        renderer=f"{_RENDER}.memory_sources:render",
        arguments=(Argument("path", "a memory: its path in the corpus, also one that it had before"),),
        options=(
            Option("--used-by", "also the packs that handed it out on this machine"),
            CORPUS,
        ),
        examples=("fabula memory sources areas/inbox/tides.html --used-by",),
    ),
)
