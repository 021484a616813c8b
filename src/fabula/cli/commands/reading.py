"""Rows: reading what was found."""

from __future__ import annotations

from fabula.cli.command import Argument, Command, Option
from fabula.cli.commands.rows import ALL, LIMIT, OFFSET, SINCE, UNTIL, record_verb

_ID = "the id, or a beginning of it that is unique"

COMMANDS: tuple[Command, ...] = (
    record_verb(
        "thread",
        "read one conversation thread, whole or under a token budget",
        arguments=(Argument("id", f"a thread, or any record in it: {_ID}"),),
        options=(
            Option("--budget", "tokens to spend", "int", least=100, metavar="TOKENS"),
            Option("--raw", "print the records' JSON as it was written"),
            Option("--no-sentinel", "leave out the marks that keep recalled text from being indexed again"),
        ),
        examples=("fabula record thread 3f2a --budget 4000",),
    ),
    record_verb(
        "block",
        "print the exact bytes of one record, nothing else",
        arguments=(Argument("uuid", f"a record: {_ID}"),),
    ),
    record_verb(
        "cite",
        "cite a record: a quote that is checked, and a reference that stays resolvable",
        arguments=(Argument("record", f"a record: {_ID}"),),
        options=(Option("--quote", "words that stand in the record exactly like this", "text", ""),),
        details="Refused where the record does not say it, or where it is private or a secret.",
        examples=("fabula record cite 3f2a --quote 'the clock is read twice'",),
    ),
    record_verb(
        "cited",
        "what a citation rests on, also after its transcript is gone",
        arguments=(Argument("reference", "what record cite printed: RECORD sha256:…", "some", metavar="REFERENCE"),),
        options=(Option("--quote", "the quote of the citation", "text", ""),),
        handler="fabula.app.record.cite:cited",
        request="fabula.app.record.cite:CitedRequest",
    ),
    record_verb(
        "sessions",
        "list sessions, newest first",
        options=(ALL, LIMIT, OFFSET, SINCE, UNTIL, Option("--host", "only this coding agent's sessions", "text")),
    ),
    record_verb(
        "session",
        "one session: its threads, its subagents, its numbers",
        arguments=(Argument("id", f"a session: {_ID}"),),
    ),
    record_verb(
        "timeline",
        "what happened when, day by day",
        options=(ALL, LIMIT, SINCE, UNTIL),
    ),
    record_verb(
        "stats",
        "how much there is, and what it cost",
        options=(
            Option("--usage", "tokens and cost, counted once per API response"),
            Option("--by", "one line per", "choice", choices=("day", "project", "model", "host")),
            ALL,
            SINCE,
            UNTIL,
        ),
    ),
    record_verb(
        "export",
        "write a session or thread as Markdown, HTML or JSON, secrets removed",
        arguments=(Argument("id", f"a session or thread: {_ID}"),),
        options=(
            Option("--format", "what to write", "choice", "markdown", choices=("markdown", "html", "json")),
            Option("--output", "the file to write; without it standard output", "path", metavar="FILE"),
        ),
    ),
    record_verb(
        "resume",
        "open a session again in the agent that it belongs to",
        arguments=(Argument("id", f"a session: {_ID}"),),
        options=(Option("--print", "print the command instead of running it", field="print_only"),),
    ),
)
