"""Rows: what changes memories."""

from __future__ import annotations

from fabula.app.memory.words import TASK_STATUSES
from fabula.cli.command import Argument, Command, Option
from fabula.cli.commands.memory_rows import (
    ALIAS,
    ALLOW_SECRET,
    CITES,
    CONFIDENCE,
    ENTITY,
    FACET,
    IMPORTANCE,
    NAME,
    NEW_TYPE,
    PATH,
    PROVENANCE,
    REASON,
    RELATION,
    SESSION,
    TAG,
    TASK_STATUS,
    TYPE,
    VALID_FROM,
    VALID_UNTIL,
    WORKSPACE,
    memory_verb,
)

_ARTICLE = (
    Option("--claim", "the one fact, as a sentence; - takes prose from standard input", "text"),
    Option("--body", "what else belongs to it, a paragraph; may be repeated", "text", repeat=True),
    Option("--article-html", "the article as markup instead, with its claim in <mark>; - is standard input", "text"),
    Option("--title", "what it is about; without it the beginning of the claim", "text"),
)
_TWO_DOORS = (
    "Say it in words (--claim, --body) or in markup (--article-html), never both. Prose from standard input: its first "
    "sentence is the claim. What is known already is not written again: the answer names it."
)

COMMANDS: tuple[Command, ...] = (
    memory_verb(
        "write",
        "write one fact",
        options=(
            TYPE,
            *_ARTICLE,
            WORKSPACE,
            TAG,
            ENTITY,
            FACET,
            ALIAS,
            IMPORTANCE,
            CONFIDENCE,
            VALID_FROM,
            VALID_UNTIL,
            Option("--path", "this place and no other; one that is taken is refused", "text"),
            Option("--if-hash", "replace what is at --path if it still has this hash", "text", metavar="HASH"),
            *CITES,
            *PROVENANCE,
            ALLOW_SECRET,
        ),
        details=_TWO_DOORS,
        examples=(
            "fabula memory write --type semantic --claim 'The pool ceiling is 64.' --workspace ledger --tag database",
            "fabula memory write --type procedural --claim - < how-to-deploy.md",
            "fabula memory write --type semantic --claim 'Two clocks run.' --cite 3f2a --quote 'there are two clocks'",
        ),
    ),
    memory_verb(
        "apply",
        "write many facts in one commit",
        arguments=(Argument("file", "one JSON object a line; - or nothing: standard input", "optional"),),
        options=(
            Option("--continue-on-error", "write what can be written, though something else cannot"),
            Option("--detect-conflicts", "name memories that give the same slot another value"),
            Option("--detect-near-duplicates", "name memories that say nearly the same"),
            Option("--consolidate", "of lines for one slot keep the last", "choice", choices=("last-wins",)),
            *PROVENANCE,
            ALLOW_SECRET,
        ),
        details="Fields: op (write), title, type, body (prose; its first sentence is the claim) or claim or "
        "article_html, path, if_hash, workspace, tags, entities, aliases, importance, confidence, valid_from, "
        "valid_until, status, due, links, session_id, prompt_id, turn_uuid, author. All or nothing, unless told "
        "otherwise; where something failed the exit status is 1.",
        examples=(
            """echo '{"op":"write","title":"Pool","type":"semantic","body":"It is 64."}' | fabula memory apply""",
        ),
    ),
    memory_verb(
        "correct",
        "let a new fact take the place of one that is no longer right",
        arguments=(Argument("target", f"the memory that is corrected: {NAME}"),),
        options=(
            *_ARTICLE,
            NEW_TYPE,
            REASON,
            Option("--path", "the place of the new memory", "text"),
            WORKSPACE,
            TAG,
            ENTITY,
            FACET,
            ALIAS,
            IMPORTANCE,
            CONFIDENCE,
            VALID_FROM,
            *CITES,
            *PROVENANCE,
            ALLOW_SECRET,
        ),
        details="Title, type, tags and whatever else is not said stay as they were; a new claim is a new text, and "
        "what stood behind the old one stays with it. The old memory goes to the archive, linked both ways.",
        examples=("fabula memory correct pool-ceiling --claim 'The pool ceiling is 128.' --reason 'raised in May'",),
    ),
    memory_verb(
        "link",
        "write a relation between two memories",
        arguments=(
            Argument("source", f"the memory that it is written into: {NAME}"),
            RELATION,
            Argument("target", f"the other memory: {NAME}"),
        ),
        options=PROVENANCE,
        examples=("fabula memory link outage caused_by pool-ceiling",),
    ),
    memory_verb(
        "unlink",
        "take a relation out again",
        module="link",
        request="Link",
        renderer="fabula.cli.render.memory_link:render",
        arguments=(
            Argument("source", f"the memory that it stands in: {NAME}"),
            RELATION,
            Argument("target", f"the other memory: {NAME}"),
        ),
        options=PROVENANCE,
    ),
    memory_verb(
        "archive",
        "take a memory out of use; nothing is deleted",
        arguments=(PATH,),
        options=(REASON, *PROVENANCE),
        examples=("fabula memory archive projects/ledger/old-pool.html --reason 'the service is gone'",),
    ),
    memory_verb(
        "unarchive",
        "bring a memory back from the archive",
        module="archive",
        arguments=(PATH,),
        options=(Option("--to", "another place than where it was", "text", metavar="PATH"), REASON, *PROVENANCE),
    ),
    memory_verb(
        "reinforce",
        "say how memories served: what helps stays, what misled fades",
        arguments=(Argument("paths", f"memories, each by {NAME}", "some", metavar="PATH"),),
        options=(
            Option("--signal", "how they served", "choice", "neutral", choices=("positive", "negative", "neutral")),
            SESSION,
        ),
        examples=("fabula memory reinforce pool-ceiling --signal positive",),
    ),
    memory_verb(
        "task add",
        "note something that is to be done",
        arguments=(Argument("title", "what is to be done", "some", joined=True),),
        options=(
            Option("--claim", "the task as a sentence; without it the title; - is standard input", "text"),
            Option("--body", "what else belongs to it; may be repeated", "text", repeat=True),
            Option("--status", "how far it is", "choice", "todo", choices=TASK_STATUSES),
            Option("--due", "by when: 2026-05-14 or 2026-05-14T08:20:00Z", "text", metavar="DAY"),
            WORKSPACE,
            TAG,
            ENTITY,
            IMPORTANCE,
            Option("--blocks", "a task that waits for this one; may be repeated", "text", repeat=True, metavar="PATH"),
            Option("--subtask-of", "the task that this is a part of", "text", metavar="PATH"),
            *PROVENANCE,
            ALLOW_SECRET,
        ),
        examples=("fabula memory task add raise the pool ceiling --due 2026-05-14 --workspace ledger",),
    ),
    memory_verb(
        "task status",
        "say how far a task is; what is done goes to the archive",
        arguments=(PATH, TASK_STATUS),
        options=(REASON, *PROVENANCE),
        examples=("fabula memory task status raise-the-pool-ceiling done",),
    ),
)
