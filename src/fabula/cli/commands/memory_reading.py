"""Rows: finding and reading memories, and what became of them."""

from __future__ import annotations

from typing import Any

from fabula.app.memory.words import MEMORY_RELATIONS, TASK_STATUSES
from fabula.cli.command import Argument, Command, Option
from fabula.cli.commands.memory_rows import (
    ANY_TYPE,
    BUCKET,
    NAME,
    PATH,
    SCOPE,
    SESSION,
    memory_verb,
)
from fabula.cli.commands.rows import LIMIT, OFFSET

_CURSOR = Option("--cursor", "go on behind this path, the last of the page before", "text", metavar="PATH")
_PAGE = Option("--limit", "how many at most", "int", 50, least=1, most=500)
_ARCHIVED = Option("--include-archived", "also what is in the archive")

_TASKS: dict[str, Any] = {
    "module": "tasks",
    "name": "tasks",
    "options": (
        Option("--status", "only in this state; may be repeated", "choice", choices=TASK_STATUSES, repeat=True),
        Option("--workspace", "only of this workspace", "text"),
        Option("--due-before", "only what is due on an earlier day than this one", "time"),
        Option("--detected", "only what sleep found by itself"),
        _ARCHIVED,
        _PAGE,
        _CURSOR,
    ),
    "details": "Without --status those that are not done. Ordered by path, never ranked.",
}

COMMANDS: tuple[Command, ...] = (
    memory_verb(
        "search",
        "find memories by words, by meaning, by time and by use",
        arguments=(Argument("query", "words to look for; nothing lists the newest", "any", joined=True),),
        options=(
            *SCOPE,
            LIMIT,
            OFFSET,
            Option("--explain", "say why each result is where it is"),
        ),
        query=True,
        details='The query is words, "phrases" and -exclusions: no input is a syntax error. Searching changes nothing.',
        examples=(
            "fabula memory search pool ceiling",
            "fabula memory search 'who owns checkout' --entity service:checkout-api --as-of 2026-03-01",
        ),
    ),
    memory_verb(
        "read",
        "show one memory; that it was opened is logged, and weighs in later searches",
        arguments=(Argument("name", f"a memory: {NAME}", metavar="PATH"),),
        options=(Option("--html", "print the file as it is"), SESSION),
    ),
    memory_verb(
        "list",
        "memories by path",
        module="list",
        name="list_memories",
        request="List",
        renderer="fabula.cli.render.memory_list:render",
        options=(
            ANY_TYPE,
            Option("--workspace", "only of this workspace", "text"),
            BUCKET,
            Option("--tag", "only with this tag", "text"),
            Option("--entity", "only about this, as type:name", "text", metavar="TYPE:NAME"),
            Option("--facet", "only with this facet, name=value or name", "text"),
            Option("--session", "only what this session wrote", "text", metavar="ID"),
            _ARCHIVED,
            _PAGE,
            _CURSOR,
        ),
    ),
    memory_verb(
        "neighbors",
        "what is near a memory by its relations, written and guessed",
        arguments=(PATH,),
        options=(
            Option("--depth", "how many steps", "int", 1, least=1, most=2),
            Option(
                "--rel", "only over this relation; may be repeated", "choice", choices=MEMORY_RELATIONS, repeat=True
            ),
            Option("--limit", "how many at most", "int", 200, least=1, most=1000),
        ),
    ),
    memory_verb(
        "history",
        "every commit that changed a memory, wherever it lay then",
        arguments=(Argument("path", f"a memory, also one that is gone: {NAME}"),),
        options=(LIMIT,),
    ),
    memory_verb(
        "at",
        "the memory as it was at a day, a time or a commit",
        arguments=(
            Argument("when", "2026-05-14 (its end), 2026-05-14T08:20:00Z, or a commit"),
            Argument("path", "one memory of then; without it a list of all", "optional"),
        ),
        options=(
            Option("--folder", "list only what lay below this folder", "text", ""),
            _ARCHIVED,
            _PAGE,
            Option("--html", "print the file as it was"),
        ),
        examples=("fabula memory at 2026-03-01 projects/ledger/pool.html",),
    ),
    memory_verb(
        "resolve",
        "where a path leads now, over moves, archivings and corrections",
        arguments=(Argument("path", "a path that was written down once"),),
    ),
    memory_verb("tasks", "what is to be done, and what holds it up", **_TASKS),
    memory_verb("task list", "the same as memory tasks", result="memory.tasks", **_TASKS),
    memory_verb("status", "what the memory holds and how it is"),
)
