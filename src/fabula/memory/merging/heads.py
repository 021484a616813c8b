"""Two versions of one memory made one: heads value by value, the article where one side changed it. Pure.

What stands several times in a head is a set, and so are links: what either side added is there, what either side took
away is not. Whoever merges whom, the same bytes come out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.memory.format.edit import add_link, add_meta, remove_link, remove_meta, set_meta
from fabula.memory.format.markup import escape_text
from fabula.memory.format.reader import read
from fabula.memory.format.vocabulary import META_RANK, PREFIX, REPEATABLE, relation_of
from fabula.memory.merging.scalars import later_of, merged_scalars, types_differ

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from fabula.memory.format.reader import Reading
    from fabula.memory.merging.values import ConflictKind

_HASH = f"{PREFIX}content-hash"


@frozen
class Parts:
    """A memory taken apart. ``rest``: what is neither its title, its article nor a value of the format's head."""

    title: str
    scalars: dict[str, str]
    values: frozenset[tuple[str, str]]  # (meta, value) of what may stand several times
    links: frozenset[tuple[str, str]]  # (rel, href)
    article: bytes
    fact: str
    rest: str


_NOTHING = Parts("", {}, frozenset(), frozenset(), b"", "", "")


def merge_memories(base: Reading | None, ours: Reading, theirs: Reading) -> bytes | ConflictKind:
    """Return the bytes of a memory that holds what both sides say, or why there is none.

    All three keep to the format; without a common version both sides must be one fact.
    """
    before = _parts(base) if base is not None else _NOTHING
    one, other = _parts(ours), _parts(theirs)
    if base is None and one.fact != other.fact:
        return "added_twice"
    if types_differ(before.scalars, one.scalars, other.scalars):
        return "type"
    sides = {
        "article": _side(before.article, one.article, other.article, are_one=one.fact == other.fact),
        "title": _side(before.title, one.title, other.title, are_one=base is None),
        "head": _side(before.rest, one.rest, other.rest, are_one=base is None),
    }
    for kind, side in sides.items():
        if side is None:
            return kind  # type: ignore[return-value]
    tie = later_of(one.scalars, other.scalars) or (1 if ours.source.data >= theirs.source.data else 2)
    readings = (ours, ours, theirs)
    carrier = sides["head"] or sides["article"] or tie
    data = _with_article(readings[carrier], readings[sides["article"] or carrier])
    data = _with_title(data, readings[sides["title"] or carrier].title)
    try:
        data = _with_head(data, before, one, other)
    except FabulaError:
        return "format"
    return data if read(data).is_memory else "format"


def _parts(reading: Reading) -> Parts:
    scalars: dict[str, str] = {}
    values = []
    for name, content in reading.metas:
        if name in REPEATABLE:
            values.append((name, content))
        elif name in META_RANK and name != _HASH:
            scalars.setdefault(name, content)
    links = frozenset((link.rel, link.href) for link in reading.links)
    return Parts(
        reading.title, scalars, frozenset(values), links, reading.article_bytes, reading.fact_hash, _rest(reading)
    )


def _rest(reading: Reading) -> str:
    """Return what stands around the parts that are merged by value, white space aside."""
    tree = reading.tree
    elements = [element for name, found in tree.metas.items() if name in META_RANK for element in found]
    elements += [one for one in tree.in_head("link") if one.attributes.get("rel", "").startswith(PREFIX)]
    spans = [span for element in elements if (span := element.start()) is not None]
    for element in (*tree.in_head("title")[:1], *tree.all("article")[:1]):
        start, end = element.start(), element.end()
        if start is not None and end is not None:
            spans.append((start[1], end[0]))
    text, at, pieces = reading.source.text, 0, []
    for begin, stop in sorted(spans):
        pieces.append(text[at:begin])
        at = max(at, stop)
    return " ".join(" ".join([*pieces, text[at:]]).split())


def _side(base: object, ours: object, theirs: object, *, are_one: bool) -> int | None:
    """Say whose version of a part holds: 1 ours, 2 theirs, 0 either; ``None`` when both changed it differently."""
    if ours == theirs:
        return 0
    if theirs == base:
        return 1
    if ours == base:
        return 2
    return 0 if are_one else None


def _with_article(into: Reading, source: Reading) -> bytes:
    """Return a file with the article of another one."""
    data = into.source.data
    if into.article_bytes == source.article_bytes:
        return data
    article = into.tree.all("article")[0]
    start, end = article.start(), article.end()
    if start is None or end is None:
        return source.source.data
    return data[: into.source.byte(start[1])] + source.article_bytes + data[into.source.byte(end[0]) :]


def _with_title(data: bytes, title: str) -> bytes:
    reading = read(data)
    if reading.title == title:
        return data
    element = reading.tree.in_head("title")[0]
    start, end = element.start(), element.end()
    if start is None or end is None:
        return data
    byte = reading.source.byte
    return data[: byte(start[1])] + escape_text(title).encode("utf-8", "replace") + data[byte(end[0]) :]


def _with_head(data: bytes, base: Parts, ours: Parts, theirs: Parts) -> bytes:
    """Write the values that hold into a file that has those of one side."""
    here = _parts(read(data))
    wanted = merged_scalars(base.scalars, ours.scalars, theirs.scalars)
    for name in sorted(here.scalars.keys() - wanted.keys()):
        data = remove_meta(data, name)
    for name, value in wanted.items():
        if here.scalars.get(name) != value:
            data = set_meta(data, name, value)
    values = _union(base.values, ours.values, theirs.values)
    for name, value in sorted(here.values - values):
        data = remove_meta(data, name, value)
    for name, value in sorted(values - here.values):
        data = add_meta(data, name, value)
    links = _union(base.links, ours.links, theirs.links)
    for relation, href in _relations(here.links - links):
        data = remove_link(data, relation, href)
    for relation, href in _relations(links - here.links):
        data = add_link(data, relation, href)
    reading = read(data)
    if any(name == _HASH for name, _ in reading.metas):
        data = set_meta(data, _HASH, reading.content_hash)
    return data


def _union(
    base: frozenset[tuple[str, str]], ours: frozenset[tuple[str, str]], theirs: frozenset[tuple[str, str]]
) -> frozenset[tuple[str, str]]:
    """Merge sets: what either side added, without what either side took away."""
    return (ours & theirs) | (ours - base) | (theirs - base)


def _relations(links: Collection[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    for rel, href in sorted(links):
        relation = relation_of(rel)
        if relation is not None:
            yield relation, href
