"""Rows: finding things in the record."""

from __future__ import annotations

from fabula.cli.command import Argument, Command, Option
from fabula.cli.commands.rows import ALL, LIMIT, OFFSET, SINCE, UNTIL, record_verb

_FILTERS = (
    'The query is words, "phrases", -exclusions, prefix* and filters: project: host: kind: tool: file: session: '
    "operative: target: concept: since: until: — no input is a syntax error."
)

COMMANDS: tuple[Command, ...] = (
    record_verb(
        "search",
        "find conversations by what was said and done",
        arguments=(Argument("query", "words to look for, with filters", "some", joined=True),),
        options=(
            ALL,
            LIMIT,
            OFFSET,
            Option("--sort", "order of the results", "choice", "relevance", choices=("relevance", "recent")),
            Option("--by", "what a result is", "choice", "thread", choices=("thread", "record")),
            Option("--explain", "say why each result is where it is"),
        ),
        query=True,
        details=_FILTERS,
        examples=(
            "fabula record search parseConfig throws on empty input",
            "fabula record search '\"connection reset\" tool:Bash since:2w -flaky'",
            "fabula record search migration --all --json",
        ),
    ),
    record_verb(
        "context",
        "put the best conversations about a question into one text under a token budget",
        arguments=(Argument("query", "words to look for, with filters", "some", joined=True),),
        options=(
            Option("--budget", "tokens to spend", "int", least=200, metavar="TOKENS"),
            Option("--limit", "how many conversations at most", "int", least=1),
            ALL,
        ),
        query=True,
        details=_FILTERS,
        examples=("fabula record context how do we deploy --budget 4000",),
    ),
    record_verb(
        "similar",
        "find conversations like one you know",
        arguments=(Argument("id", "a thread or session, or the beginning of its id"),),
        options=(ALL, LIMIT),
    ),
    record_verb(
        "failures",
        "an error message in; the same error before, and what solved it, out",
        arguments=(Argument("text", "the error message; without it the most frequent errors", "any", joined=True),),
        options=(ALL, LIMIT, SINCE, UNTIL),
        query=True,
        examples=("fabula record failures \"ModuleNotFoundError: No module named 'yaml'\"",),
    ),
    record_verb(
        "file",
        "the edit history of a file across sessions and agents",
        arguments=(Argument("path", "the file, absolute or relative to here"),),
        options=(
            Option("--at", "print its contents as they were at this time", "time"),
            Option("--diff", "what changed between two times or edit numbers", "text", values=2, metavar="A B"),
            Option("--show", "print its contents after edit number N", "int", least=1),
            ALL,
        ),
        examples=("fabula record file src/app.py", "fabula record file src/app.py --at 2026-03-01T14:00"),
    ),
    record_verb(
        "terms",
        "what the record speaks about: tools, files, verbs, targets, concepts",
        options=(
            Option("--kind", "only terms of this kind", "text"),
            ALL,
            LIMIT,
        ),
    ),
)
