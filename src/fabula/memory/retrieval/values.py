"""What is asked of the retrieval, and what it answers. Times are ms since the epoch."""

from __future__ import annotations

from fabula.kernel.values import field, frozen


@frozen
class Scope:
    """Which memories may be found at all; everything that is given must hold.

    ``workspace`` asks for one workspace alone. ``home`` is where the question is asked from: a repository's own
    memories and those without a workspace; ``None``: every workspace. ``tags`` and ``entities`` (``type:name``): one
    of them; ``facets`` (``name=value``, or ``name``): all of them; names are compared without case. ``as_of``: what
    held then, archived or not. Tasks are found where ``types`` names them. ``since`` and ``until`` bound the time from
    which a memory holds.
    """

    types: tuple[str, ...] = ()
    workspace: str | None = None
    home: str | None = None
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    facets: tuple[str, ...] = ()
    as_of: int | None = None
    archived: bool = False
    since: int | None = None
    until: int | None = None

    @property
    def is_narrowed(self) -> bool:
        """Whether the asker narrowed it: an empty answer may be the scope's doing."""
        given = (self.types, self.workspace, self.tags, self.entities, self.facets, self.since, self.until)
        return any(one not in ((), None, "") for one in given)


@frozen
class Ask:
    """One question, asked at ``now``. A blank ``text`` asks for the newest."""

    text: str
    now: int
    scope: Scope = Scope()
    limit: int = 10
    offset: int = 0


@frozen
class ArmPart:
    """An arm's part in a score: the place in its ranking (from 1), as it gave it, between 0 and 1, and its weight."""

    rank: int
    raw: float
    scaled: float
    weight: float


@frozen
class Hit:
    """A memory that was found.

    ``score`` is 1 where every arm is at its best, 0 in a listing. ``coverage`` is the share of the question's weight
    that it says. ``when``: from when it holds (valid time over write time). ``confidence_now`` has decayed since it was
    written or reinforced. ``superseded_by``: the path of what took its place. ``marks`` are (start, end) in
    ``snippet``, which never shows what is folded away (``has_details``).
    """

    id: int
    path: str
    title: str
    claim: str
    type: str
    score: float
    coverage: float
    confidence: float
    confidence_now: float
    updated: int
    when: int
    valid_until: int | None
    workspace: str | None
    tags: tuple[str, ...]
    entities: tuple[str, ...]
    superseded_by: str | None
    archived: bool
    has_details: bool
    snippet: str
    marks: tuple[tuple[int, int], ...] = ()
    arms: dict[str, ArmPart] = field(default_factory=dict)


@frozen
class Answer:
    """What was found, the best first, and how sure that is.

    ``arms`` had a say; ``degraded`` says why others had none. ``weak``: nothing found holds much of the question.
    ``scope_empty``: nothing was found and the asker had narrowed the scope. ``number`` counts all that was found.
    """

    hits: tuple[Hit, ...] = ()
    number: int = 0
    arms: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    weak: bool = False
    scope_empty: bool = False
    coverage: float = 0.0
    is_listing: bool = False


@frozen
class Quoted:
    """A memory whose ``text`` (claim, summaries, facets, citations) is handed out."""

    hit: Hit
    text: str


@frozen
class Disclosed:
    """What fits into a budget: memories quoted, others as one line each; ``left`` fitted in no form.

    ``spent`` counts all characters that are handed out, of lines too.
    """

    quoted: tuple[Quoted, ...] = ()
    lines: tuple[Hit, ...] = ()
    left: int = 0
    spent: int = 0

    @property
    def truncated(self) -> bool:
        """Whether something is not quoted."""
        return bool(self.lines or self.left)


@frozen
class Recalled:
    """Memories for an agent's context: patterns across memories (arcs) apart from the facts themselves."""

    arcs: Disclosed
    memories: Disclosed
    arms: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    weak: bool = False

    @property
    def spent(self) -> int:
        """Characters handed out."""
        return self.arcs.spent + self.memories.spent
