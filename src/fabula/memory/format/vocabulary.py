"""The closed vocabularies of the memory format, as data: types, states, buckets, relations, head metas, elements.

A memory is one HTML file that holds one fact. The names with the prefix ``memhtml-`` belong to the format that other
programs read too and are closed: a name outside of them is an error. Names with ``fabula-`` are our own; other readers
pass over them, and a name that a newer Fabula added is no error here. Everything else in a head belongs to the author.

Open, so that nothing here has to change for a new domain: facets, tags, types of entities, workspaces, paths.
"""

from __future__ import annotations

from typing import Final

PREFIX: Final = "memhtml-"
OURS: Final = "fabula-"

# ── types and states ────────────────────────────────────────────────
#: What a person or an agent may write; an ``arc``, a pattern seen across memories, is written by sleep alone.
WRITABLE_TYPES: Final = (
    "episodic",
    "semantic",
    "procedural",
    "agent_insight",
    "user_preference",
    "error_pattern",
    "verdict",
    "precedent",
    "task",
)
TYPES: Final = (*WRITABLE_TYPES[:-1], "arc", "task")
STATUSES: Final = ("active", "archived")
TASK_STATUSES: Final = ("todo", "doing", "blocked", "done")
BUCKETS: Final = ("projects", "areas", "resources", "archive")

# ── relations ───────────────────────────────────────────────────────
#: relation -> class of its edges; the class is never stored.
RELATIONS: Final = {
    "supersedes": "memory",
    "contradicts": "memory",
    "caused_by": "memory",
    "leads_to": "memory",
    "part_of": "memory",
    "relates_to": "memory",
    "example_of": "memory",
    "supports": "memory",
    "laterally_related": "memory",
    "about_person": "person",
    "authored_by": "person",
    "from_session": "provenance",
    "blocks": "task",
    "subtask_of": "task",
}
EDGE_CLASSES: Final = ("memory", "person", "provenance", "task")
PROVENANCES: Final = ("authored", "sleep", "import")
_TOKENS: Final = {PREFIX + relation.replace("_", "-"): relation for relation in RELATIONS}
_RELATIONS: Final = {relation: token for token, relation in _TOKENS.items()}

# ── head metas ──────────────────────────────────────────────────────
SCALARS: Final = tuple(
    PREFIX + name
    for name in (
        "type status created updated confidence importance content-hash author session prompt turn valid-from "
        "valid-until reprieves archived superseded-by needs-revision task-status due"
    ).split()
)
#: Scalars that hold a day or a time.
TIMES: Final = tuple(PREFIX + name for name in "created updated valid-from valid-until archived due".split())
REPEATABLES: Final = tuple(PREFIX + name for name in ("entity", "tag", "alias"))
REQUIRED: Final = SCALARS[:4]
#: Our own: where an archived file lay; why it was corrected or archived; ``RECORD DIGEST`` of a cited record.
OUR_SCALARS: Final = (OURS + "origin", OURS + "reason")
OUR_REPEATABLES: Final = (OURS + "cite",)
#: name -> rank; a head is written in this order, and a later version adds at the end of a block.
META_RANK: Final = {name: rank for rank, name in enumerate((*SCALARS, *REPEATABLES, *OUR_SCALARS, *OUR_REPEATABLES))}
REPEATABLE: Final = frozenset((*REPEATABLES, *OUR_REPEATABLES))

# ── elements and attributes ─────────────────────────────────────────
_DOCUMENT = frozenset("html head body title meta link".split())
_ARTICLE = frozenset(
    "article mark time dl dt dd data cite q dfn figure figcaption details summary aside section abbr pre code kbd samp "
    "var table caption thead tbody tr th td p ul ol li a strong em".split()
)
FIGURE_ONLY: Final = frozenset({"div", "span"})
FORBIDDEN: Final = frozenset({"script", "style"})
KNOWN_ELEMENTS: Final = _DOCUMENT | _ARTICLE | FIGURE_ONLY | FORBIDDEN | {"address"}
#: Elements that stand inside of a line: no space is put around them. Another name here would move every hash.
INLINE: Final = frozenset("mark time data cite q dfn abbr code kbd samp var a strong em span".split())
#: Strange to the vocabulary but harmless where a page is opened: what prose brings along.
HARMLESS: Final = frozenset(
    "h1 h2 h3 h4 h5 h6 br hr wbr blockquote main header footer nav tfoot col colgroup b i u s small sub sup del ins "
    "bdi bdo ruby rt rp hgroup menu".split()
)
#: The attributes that carry facts, besides ``data-lang`` of code: tag -> attribute.
FACT_ATTRIBUTES: Final = {"time": "datetime", "data": "value", "q": "cite", "a": "href"}
FORBIDDEN_ATTRIBUTES: Final = frozenset({"class", "style"})


def relation_of(token: str) -> str | None:
    """Return the relation that a link's ``rel`` names, ``memhtml-caused-by`` for ``caused_by``; ``None``: no such."""
    return _TOKENS.get(token)


def token_of(relation: str) -> str:
    """Return the ``rel`` of a relation.

    Raises:
        KeyError: the relation is not one of :data:`RELATIONS`.
    """
    return _RELATIONS[relation]


def is_well_formed_edge(
    source: str, relation: str, target: str, *, edge_class: str, derived: bool = False, provenance: str = "authored"
) -> bool:
    """Whether an edge may exist: of its relation's own class, between two files, derived by sleep alone."""
    if RELATIONS.get(relation) != edge_class or source == target or provenance not in PROVENANCES:
        return False
    return not derived or provenance == "sleep"
