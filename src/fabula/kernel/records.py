"""What a host's transcript is made of, whatever the host: the values that sources yield and the record plane keeps.

A source reads a file of its host and yields :class:`Record` values in file order. Nothing here decides anything:
ranking, threads and storage read these values.
"""

from __future__ import annotations

from typing import Any, Literal

from fabula.kernel.values import define, field

#: What a record is to a reader. ``prompt`` was typed by a person; ``task`` is the prompt a parent agent gave to a
#: subagent; ``notice`` is text that the host injected; ``other`` is kept, counted and rendered, but not searched.
Kind = Literal[
    "prompt", "task", "reply", "thought", "call", "result", "summary", "boundary", "command", "notice", "attachment",
    "snapshot", "title", "system", "progress", "other",
]  # fmt: skip
KINDS: tuple[str, ...] = (
    "prompt", "task", "reply", "thought", "call", "result", "summary", "boundary", "command", "notice", "attachment",
    "snapshot", "title", "system", "progress", "other",
)  # fmt: skip

#: Who says a record; a host's own word is kept where it is none of these. Append-only: the map holds indexes.
ROLES: tuple[str, ...] = ("", "user", "assistant", "system", "tool")

#: Block kinds. ``text`` is said by the record's role; ``call`` and ``result`` are joined by ``tool_id``.
BlockKind = Literal["text", "thought", "call", "result", "image", "document", "other"]

Provenance = Literal["original", "rewritten", "slimmed"]
PROVENANCES: tuple[Provenance, ...] = ("original", "rewritten", "slimmed")  # the best first; the map holds indexes

#: The key that a line carries from which Fabula took something, in hosts whose records are objects of JSON.
SLIMMED_KEY = "fabulaSlimmed"


@define
class Block:
    """One part of a record's content."""

    kind: BlockKind
    text: str = ""
    tool: str = ""  # the tool's name, on calls
    tool_id: str = ""  # joins a result to its call
    input: dict[str, Any] | None = None  # a call's arguments
    failed: bool = False  # a result that the host marked as an error
    images: int = 0  # pictures inside a result


@define
class Usage:
    """Tokens billed for one API response; every record of the response repeats it."""

    response: str  # identity of the API response (message id and request id)
    model: str
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


@define
class Record:
    """One record of a transcript. ``offset`` and ``length`` count bytes of the (decompressed) source file."""

    uid: str
    session: str  # the host's session id; a subagent's is its agent id, never its parent's session id
    kind: Kind
    role: str  # user, assistant, system, tool or ""
    offset: int
    length: int
    time: int | None = None  # ms since the epoch
    parent: str = ""  # uid of the causal parent: annotates, never decides what exists
    source: str = ""  # uid of the record that holds the call which this result answers
    prompt_id: str = ""  # the host's thread key, where it has one
    sidechain: bool = False
    spawned_by: str = ""  # uid or tool id in the parent session that started this subagent
    blocks: list[Block] = field(default_factory=list)
    title: str = ""  # a session title that this record sets
    title_rank: int = 0  # a person's title (3) beats the host's (2) beats a legacy summary (1)
    cwd: str = ""
    branch: str = ""
    raw_type: str = ""  # the host's own name of the type, counted when unknown
    usage: Usage | None = None
    has_id: bool = True  # False when ``uid`` was derived by us
    sdk: bool = False  # spawned by a program, not by a person: demoted
    live: bool = True  # False when the host itself says that this record was rewound or abandoned
    rewinds_to: str = ""  # uid: the host takes that record of this file back with all after it, up to this one
    parent_session: str = ""  # the session that spawned or was forked into this one, where only the content tells
    slimmed: bool = False  # the line itself says that Fabula took something out of it
    made_from: str = ""  # uid of the record that we copied into a composed session: the copy did nothing by itself


@define
class SourceFile:
    """A file that a source found, by its stat; nothing was read yet."""

    host: str
    path: str  # absolute; for a row source ``<database>#<row key>``
    kind: str  # the source's own word for the shape: session, subagent, history, tool-result, ...
    session: str  # session id that the path itself gives, or ""
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    parent_session: str = ""  # for subagent files: the session that spawned it
    immutable: bool = False  # a sealed generation of somebody's vault
    provenance: Provenance = "original"
    generation: int = -1  # number of a sealed generation; -1 for live files


@define
class Accounting:
    """What became of every object in a file: ``objects == indexed + sum(skipped.values())``.

    ``span_bytes + gap_bytes + unreadable_bytes`` is the size of the part that was read.
    """

    objects: int = 0
    indexed: int = 0
    recovered: int = 0
    span_bytes: int = 0
    gap_bytes: int = 0
    unreadable_bytes: int = 0
    skipped: dict[str, int] = field(default_factory=dict)

    def skip(self, kind: str) -> None:
        """Count one object that is kept in the vault but not indexed."""
        self.objects += 1
        self.skipped[kind] = self.skipped.get(kind, 0) + 1
