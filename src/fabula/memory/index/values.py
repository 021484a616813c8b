"""What the index answers with."""

from __future__ import annotations

from fabula.kernel.values import define, field, frozen


@define
class Report:
    """What became of the index in one pass. Paths are sorted; ``moved`` are renames that kept their fact.

    ``rebuilt``: it was made anew; ``notices`` are for people: why an answer may be old, or where the index lies.
    """

    head: str = ""
    rebuilt: bool = False
    added: list[str] = field(default_factory=list)
    modified: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    moved: list[tuple[str, str]] = field(default_factory=list)
    problems: int = 0
    notices: list[str] = field(default_factory=list)

    @property
    def unchanged(self) -> bool:
        """Whether no memory changed."""
        return not (self.rebuilt or self.added or self.modified or self.removed or self.moved)


@frozen
class FileRow:
    """A memory as the index knows it. Times in ms; entities as ``type:name``, facets as (name, value, number)."""

    id: int
    path: str
    blob: str
    dirty: bool
    content_hash: str
    fact_hash: str
    type: str
    title: str
    claim: str
    bucket: str
    workspace: str | None
    archived: bool
    origin: str | None
    confidence: float
    importance: int
    author: str | None
    session: str | None
    created: int
    updated: int
    event: int | None
    valid_from: int | None
    valid_until: int | None
    archived_at: int | None
    holds_from: int
    superseded_by: str | None
    reason: str | None
    reprieves: int
    needs_revision: bool
    task_status: str | None
    due: int | None
    words: int
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    facets: tuple[tuple[str, str, float | None], ...] = ()


@frozen
class Filters:
    """What a list is narrowed to; all that is given must hold. Without ``types`` tasks are left out.

    ``bucket="archive"`` includes what is archived. Tags and entities are compared without case.
    """

    types: tuple[str, ...] = ()
    workspace: str | None = None
    bucket: str | None = None
    tag: str | None = None
    entity: str | None = None  # type:name
    facet: str | None = None  # name, or name=value
    session: str | None = None
    archived: bool = False
    task_status: str | None = None


@frozen
class Task:
    """A task with what stands around it: paths of other tasks; ``blocked_by`` names those that are not done."""

    row: FileRow
    blocked_by: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    parent: str | None = None
    children: tuple[str, ...] = ()


@frozen
class Problem:
    """A file from which nothing is served, and what puts it right."""

    path: str
    kind: str
    message: str
    fix: str
    line: int | None = None
    column: int | None = None


@frozen
class Move:
    """A rename that was seen, in ms."""

    id: int
    old: str
    new: str
    seen: int


@frozen
class Cited:
    """A citation in a memory; ``record`` and ``digest`` where it is one of the record."""

    path: str
    text: str
    address: str | None
    record: str | None
    digest: str | None


@frozen
class Status:
    """What the index holds. ``place``: ``corpus``, ``elsewhere`` or ``memory``; counts of types are of active ones."""

    head: str
    place: str
    path: str
    files: int
    archived: int
    dirty: int
    by_type: dict[str, int]
    by_workspace: dict[str, int]
    by_bucket: dict[str, int]
    by_task_status: dict[str, int]
    edges: int
    guesses: int
    vectors: dict[str, int]
    problems: int
    bytes: int
