"""What is asked of the store and what it answers.

Paths are relative, without a slash in front; hashes are as the format writes them (``sha256:<hex>``); times are in the
form that is written (``2026-05-14T08:20:00Z``).

In every answer ``commit`` is the commit that was made, ``None`` where nothing had to change; ``base`` is HEAD before
it, empty where nothing had been committed; ``moves`` are (old, new) paths of what moved; ``notices`` are sentences for
a person.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from fabula.kernel.citations import Citation

Moves = tuple[tuple[str, str], ...]


@frozen
class Provenance:
    """Who made a change, and in the course of what: ids of a session, a prompt, a turn."""

    session: str = ""
    prompt: str = ""
    turn: str = ""
    author: str = ""


@frozen
class NewMemory:
    """A memory to be written: a claim with paragraphs, or the markup of an article, never both.

    ``path``: this one and no other. ``if_hash``: the content hash or the blob id of the memory that is there and that
    this one replaces. ``links``: (relation, path). ``allow_secrets``: a person agreed. ``is_arc_allowed``: sleep alone.
    """

    title: str
    type: str
    claim: str = ""
    body: tuple[str, ...] = ()
    article_html: str | None = None
    path: str | None = None
    if_hash: str | None = None
    workspace: str | None = None
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    importance: int | None = None
    confidence: float | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    task_status: str | None = None
    due: str | None = None
    links: tuple[tuple[str, str], ...] = ()
    cites: tuple[Citation, ...] = ()
    provenance: Provenance = Provenance()
    allow_secrets: bool = False
    is_arc_allowed: bool = False


@frozen
class Written:
    """A memory that was written, or (``deduped``) the one at ``path`` that says the same already.

    ``same_text``: memories that read alike but hold other values for machines.
    """

    path: str
    commit: str | None
    base: str
    content_hash: str
    fact_hash: str
    created: bool
    deduped: bool = False
    existing: str | None = None
    replaced: bool = False
    blob: str | None = None
    same_text: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


# ── many at once ────────────────────────────────────────────────────
@frozen
class Batch:
    """How a batch is applied.

    ``continue_on_error``: what can be written is, though something else cannot. ``detect_conflicts``: name memories
    that give the same slot another value. ``near_duplicates``: name those that say nearly the same. ``last_wins``: of
    memories for one slot the last is kept, and it supersedes the one that is stored.
    """

    continue_on_error: bool = False
    detect_conflicts: bool = False
    near_duplicates: bool = False
    last_wins: bool = False
    allow_secrets: bool = False


@frozen
class Conflict:
    """A memory, or an earlier operation of the batch, that claims something else about the same slot."""

    path: str | None
    batch_index: int | None
    claim: str


@frozen
class Text:
    """What near-duplicates are looked for with."""

    title: str
    claim: str
    body: str


@frozen
class Similar:
    """A memory, or an earlier operation of the batch, that says nearly the same; ``similarity`` in [-1, 1]."""

    path: str | None
    batch_index: int | None
    claim: str
    similarity: float


@frozen
class Outcome:
    """What became of one operation. ``skipped``: it could have been done, but the batch was not.

    ``consolidated_into``: the operation that carries this one's content. ``superseded``: where in the archive the
    memory is that this one took the place of.
    """

    index: int
    ok: bool = False
    path: str | None = None
    content_hash: str | None = None
    deduped: bool = False
    existing: str | None = None
    error: FabulaError | None = None
    skipped: bool = False
    conflict: Conflict | None = None
    near: tuple[Similar, ...] = ()
    consolidated_into: int | None = None
    superseded: str | None = None
    same_text: tuple[str, ...] = ()


@frozen
class Summary:
    """How many operations came to what."""

    total: int = 0
    written: int = 0
    deduped: int = 0
    failed: int = 0
    skipped: int = 0
    consolidated: int = 0


@frozen
class Applied:
    """What became of a batch, in the order of its operations.

    ``near_duplicates_checked``: ``None`` where nobody asked, ``False`` where it could not be done.
    """

    commit: str | None
    base: str
    results: tuple[Outcome, ...]
    summary: Summary
    moves: Moves = ()
    near_duplicates_checked: bool | None = None
    notices: tuple[str, ...] = ()


# ── changes to what is there ────────────────────────────────────────
@frozen
class Correction:
    """A memory that takes the place of another. ``None`` is what the target has; an empty tuple is nothing.

    Without claim and markup the article stays as it is.
    """

    target: str
    reason: str = ""
    title: str | None = None
    claim: str = ""
    body: tuple[str, ...] = ()
    article_html: str | None = None
    type: str | None = None
    path: str | None = None
    workspace: str | None = None
    tags: tuple[str, ...] | None = None
    entities: tuple[str, ...] | None = None
    aliases: tuple[str, ...] | None = None
    importance: int | None = None
    confidence: float | None = None
    valid_from: str | None = None
    links: tuple[tuple[str, str], ...] | None = None
    cites: tuple[Citation, ...] = ()
    provenance: Provenance = Provenance()
    allow_secrets: bool = False


@frozen
class Corrected:
    """A correction: the new memory at ``path``, the old one at ``archived``.

    ``deduped``: the memory at ``path`` had said so before; it has superseded the target now. ``unchanged``: the
    correction says what the target does. ``valid_from``: when the new fact became true and the old one ended.
    """

    path: str
    archived: str | None
    commit: str | None
    base: str
    content_hash: str
    created: bool = True
    deduped: bool = False
    existing: str | None = None
    valid_from: str | None = None
    unchanged: bool = False
    blob: str | None = None
    moves: Moves = ()
    notices: tuple[str, ...] = ()


@frozen
class Pair:
    """A memory that holds, and one whose place it takes."""

    winner: str
    loser: str


@frozen
class Superseded:
    """Which memories went to the archive: (path, where it is now)."""

    commit: str | None
    base: str
    archived: Moves = ()
    moves: Moves = ()
    notices: tuple[str, ...] = ()


@frozen
class Archived:
    """A memory of ``path`` that is in the archive now."""

    path: str
    archived: str
    commit: str | None
    base: str
    content_hash: str = ""
    moves: Moves = ()
    notices: tuple[str, ...] = ()


@frozen
class Unarchived:
    """A memory that was at ``archived`` and is at ``path`` again."""

    archived: str
    path: str
    commit: str | None
    base: str
    content_hash: str = ""
    moves: Moves = ()
    notices: tuple[str, ...] = ()


@frozen
class Linked:
    """A relation that stands in the head of ``source``, or (unlink) no longer does."""

    source: str
    relation: str
    target: str
    commit: str | None
    base: str
    unchanged: bool
    notices: tuple[str, ...] = ()


@frozen
class TaskMoved:
    """A task in another state. ``path`` is where it is now, ``archive_path`` that path where it is in the archive."""

    path: str
    status: str
    archived: bool
    archive_path: str | None
    commit: str | None
    base: str
    unchanged: bool
    moves: Moves = ()
    notices: tuple[str, ...] = ()


class Occupied(FabulaError):  # noqa: N818 - the name says what is the matter
    """A memory is at the path already: ``path``, its ``content_hash`` (empty where it is none) and ``blob`` id."""

    def __init__(self, path: str, content_hash: str, blob: str, message: str = "") -> None:
        super().__init__(
            "ERR_WRITE_CONFLICT",
            message or f"{path}: a file has this path already",
            "write to another path",
            "correct the memory that is there",
        )
        self.path = path
        self.content_hash = content_hash
        self.blob = blob
