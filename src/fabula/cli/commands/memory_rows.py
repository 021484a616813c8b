"""What rows of the memory share: how a verb's parts are named, and the options that mean the same everywhere."""

from __future__ import annotations

from typing import Any

from fabula.app.memory.words import BUCKETS, RELATIONS, TASK_STATUSES, TYPES, WRITABLE_TYPES
from fabula.cli.command import Argument, Command, Option

CORPUS = Option("--corpus", "the memory in this folder, not the configured one", "path", metavar="DIR")
SESSION = Option("--session", "the session in whose course this happens", "text", "", metavar="ID")
PROVENANCE = (
    SESSION,
    Option("--prompt", "the prompt in whose course this happens", "text", "", metavar="ID"),
    Option("--turn", "the turn in whose course this happens", "text", "", metavar="ID"),
)
REASON = Option("--reason", "why; it is kept in the file and in the commit", "text", "")
ALLOW_SECRET = Option("--allow-secret", "you are asked at the terminal where it holds what looks like a secret")
CITES = (
    Option(
        "--cite", "a record that this rests on, its id or the beginning of it", "text", repeat=True, metavar="RECORD"
    ),
    Option("--quote", "the words of the record, verbatim; the first belongs to the first --cite", "text", repeat=True),
)
NAME = "its path, or a name that only one memory has"
PATH = Argument("path", f"a memory: {NAME}")
IMPORTANCE = Option("--importance", "from 1 to 10; without it 5", "int", least=1, most=10)
CONFIDENCE = Option("--confidence", "from 0 to 1; without it 1", "decimal", least=0, most=1)
VALID_FROM = Option("--valid-from", "since when it is true: 2026-05-14 or 2026-05-14T08:20:00Z", "text", metavar="DAY")
VALID_UNTIL = Option("--valid-until", "until when it is true", "text", metavar="DAY")
WORKSPACE = Option("--workspace", "the project that it belongs to", "text")
TAG = Option("--tag", "a tag; may be repeated", "text", repeat=True)
ENTITY = Option("--entity", "what it is about, as type:name; may be repeated", "text", repeat=True, metavar="TYPE:NAME")
FACET = Option("--facet", "a named value of it; may be repeated", "text", repeat=True, metavar="NAME=VALUE")
ALIAS = Option("--alias", "another name that it is looked for by; may be repeated", "text", repeat=True)

#: What narrows a search and a recall.
SCOPE = (
    Option("--type", "only this type; may be repeated", "choice", choices=TYPES, repeat=True),
    Option("--workspace", "only this workspace", "text"),
    Option("--tag", "only with one of these tags", "text", repeat=True),
    Option("--entity", "only about one of these, as type:name", "text", repeat=True, metavar="TYPE:NAME"),
    Option("--facet", "only with this facet, name=value or name; all that are named", "text", repeat=True),
    Option("--as-of", "as it was held to be true at this time, archived or not", "time"),
    Option("--since", "only what holds since this time or later", "time"),
    Option("--until", "only what holds since before this time; a day is meant to its end", "until"),
    Option("--include-archived", "also what is in the archive"),
    Option("--all", "memories of every workspace, not only of this repository and of none"),
)

TYPE = Option("--type", "what kind of memory it is", "choice", choices=WRITABLE_TYPES, required=True)
NEW_TYPE = Option("--type", "another kind than the target's", "choice", choices=WRITABLE_TYPES)
ANY_TYPE = SCOPE[0]
BUCKET = Option("--bucket", "only below this folder", "choice", choices=BUCKETS)
RELATION = Argument("relation", f"one of {', '.join(RELATIONS)}", choices=RELATIONS)
TASK_STATUS = Argument("status", f"one of {', '.join(TASK_STATUSES)}", choices=TASK_STATUSES)


def memory_verb(
    words: str, summary: str, *, module: str = "", name: str = "", request: str = "", **row: Any
) -> Command:
    """A row ``memory WORDS``, with ``--corpus``; its parts are named after the words, where nothing else is said.

    ``task add`` is ``app.memory.task_add:task_add`` with ``TaskAddRequest``, shown by ``render.memory_task_add``.
    """
    verb = name or words.replace(" ", "_")
    kind = request or "".join(part.capitalize() for part in verb.split("_"))
    home = f"fabula.app.memory.{module or verb}"
    return Command(
        path=("memory", *words.split()),
        summary=summary,
        result=row.pop("result", f"memory.{words.replace(' ', '.')}"),
        handler=f"{home}:{verb}",
        request=f"{home}:{kind}Request",
        renderer=row.pop("renderer", f"fabula.cli.render.memory_{verb}:render"),
        options=(*row.pop("options", ()), CORPUS),
        **row,
    )
