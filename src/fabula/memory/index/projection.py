"""From the bytes of one file to its rows: pure, and the same whether the index is rebuilt or brought up to date."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from fabula.kernel.citations import read_reference
from fabula.kernel.hashes import digest
from fabula.kernel.values import frozen
from fabula.memory.format.entities import CONCEPT, LANGUAGE, UNTYPED, Entity, parse_entity
from fabula.memory.format.findings import joined
from fabula.memory.format.paths import bucket_of, is_memory_path, normalise, original_path, target_of
from fabula.memory.format.reader import read
from fabula.memory.format.times import parse
from fabula.memory.format.vocabulary import relation_of
from fabula.memory.standing.frames import frame_key
from fabula.search.identifiers import expand

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabula.memory.format.content import Content
    from fabula.memory.format.head import Head
    from fabula.memory.format.reader import Reading

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_FULL_CONFIDENCE: Final = 1.0
_USUAL_IMPORTANCE: Final = 5
_FOLDING: Final = frozenset({"details", "aside"})
_WORDS: Final = re.compile(r"[^\W_]+")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_OURS, _THEIRS = re.compile(rb"^<{7} ", re.MULTILINE), re.compile(rb"^>{7} ", re.MULTILINE)

#: Columns of ``files`` that the projection fills, in this order; ``id``, ``path``, ``blob`` and ``dirty`` come first.
COLUMNS: Final = tuple(
    "content_hash fact_hash text_hash type title claim bucket workspace archived origin confidence importance author "
    "session prompt turn created updated event valid_from valid_until archived_at holds_from superseded_by reason "
    "reprieves needs_revision task_status due frame_key words".split()
)


@frozen
class Projected:
    """The rows of one memory: ``values`` of :data:`COLUMNS`, the rest in the order of their tables' columns."""

    values: tuple[object, ...]
    texts: tuple[str, str | None, str]
    tags: tuple[str, ...]
    entities: tuple[Entity, ...]
    aliases: tuple[str, ...]
    facets: tuple[tuple[str, str, float | None], ...]
    citations: tuple[tuple[str, str | None, str | None, str | None], ...]  # text, address, record, digest
    edges: tuple[tuple[str, str], ...]  # relation, target
    full_text: tuple[str, ...]
    fact_hash: str
    is_archived: bool


@frozen
class Unserved:
    """Why nothing is served from a file. ``kind`` as in the table ``problems``."""

    kind: str
    message: str
    fix: str
    line: int | None = None
    column: int | None = None


def project(path: str, data: bytes, known: Reading | None = None) -> Projected | Unserved:
    """Return the rows of a file, or what keeps it out of the memory. ``known``: what was read of such bytes before."""
    if _CONTROL.search(path):  # a line's end in a name would be one in every list that names it
        return Unserved("name", "its name holds characters that control a terminal or end a line", "rename the file")
    if _OURS.search(data) and _THEIRS.search(data):
        return Unserved("conflict", "a merge left both versions in it", f"settle it by hand, then: git add {path}")
    reading = known if known is not None and known.source.data == data else read(data)
    if not reading.is_memory:
        first = reading.violations[0]
        return Unserved("broken", joined(reading.violations), first.fix, first.place.line, first.place.column)
    return _rows(path, reading, reading.head, reading.content)


def _rows(path: str, reading: Reading, head: Head, content: Content) -> Projected:
    origin = _origin(path, head)
    workspace = workspace_of(origin or path)
    title, claim, body = reading.title, content.claim, content.body
    open_body = content.open_body if _FOLDING & reading.tree.by_tag.keys() else body
    facets = _facets(content)
    citations = _citations(content, head)
    entities = _entities(content, head)
    tags = _distinct(tag.strip() for tag in head.tags)
    aliases = _distinct(alias.strip() for alias in head.aliases)
    is_archived = bucket_of(path) == "archive"
    created, updated = milliseconds(head.created), milliseconds(head.updated)
    event, valid_from = milliseconds(content.event_at), milliseconds(head.valid_from)
    written = next((at for at in (created, updated) if at is not None), 0)
    holds = next((at for at in (valid_from, event) if at is not None), written)
    fact = reading.fact_hash
    values = (
        reading.content_hash, fact, text_hash(title, claim, body), head.type, title, claim, bucket_of(path), workspace,
        int(is_archived), origin,
        _FULL_CONFIDENCE if head.confidence is None else head.confidence, head.importance or _USUAL_IMPORTANCE,
        head.author, head.session, head.prompt, head.turn,
        written, written if updated is None else updated, event, valid_from, milliseconds(head.valid_until),
        milliseconds(head.archived), holds, target_of(head.superseded_by) if head.superseded_by else None, head.reason,
        head.reprieves or 0, int(bool(head.needs_revision)), head.task_status, milliseconds(head.due),
        frame_key(claim), len(body.split()),
    )  # fmt: skip
    said = [f"{name}: {value}" for name, value, _ in facets] + [text for text, *_ in citations if text]
    disclosure = "\n".join(line for line in (claim, *content.summaries, *said) if line.strip())
    names = [*tags, *(f"{entity.type} {entity.name}" for entity in entities), *aliases, *_abbreviations(content)]
    names += [workspace or "", " ".join(_WORDS.findall(path.rpartition("/")[2].removesuffix(".html")))]
    columns = [title, claim, _without(body, claim), "\n".join(said), "\n".join(filter(None, names))]
    return Projected(
        values=values,
        texts=(body, None if open_body == body else open_body, disclosure),
        tags=tags,
        entities=entities,
        aliases=aliases,
        facets=facets,
        citations=citations,
        edges=_edges(path, reading),
        full_text=(*columns, expand("\n".join(columns)), scope_of(head.type, workspace)),
        fact_hash=fact,
        is_archived=is_archived,
    )


def workspace_of(path: str) -> str | None:
    """Return the workspace a path lies in: the folder directly below ``projects/``, layers of archive taken off."""
    while (original := original_path(path)) is not None:
        path = original
    parts = path.split("/")
    return parts[1] if parts[0] == "projects" and len(parts) > 2 else None


def text_hash(title: str, claim: str, body: str) -> bytes:
    """Return the hash of what is embedded of a memory (32 bytes)."""
    return digest(f"{title}\n{claim}\n{body}".encode("utf-8", "replace"))


def scope_of(memory_type: str, workspace: str | None) -> str:
    """Return the filter tokens of a memory in the full text."""
    tokens = f"k{memory_type.replace('_', '')}"
    return tokens if workspace is None else f"{tokens} h{digest(workspace.encode('utf-8', 'replace')).hex()[:8]}"


def folded(text: str) -> str:
    """Return the form in which names are looked up."""
    return text.casefold()


def milliseconds(text: str | None) -> int | None:
    """Return the moment that a text names, in ms since the epoch; ``None``: it names none."""
    moment = parse(text) if text else None
    return None if moment is None else (moment - _EPOCH) // _MILLISECOND


def _origin(path: str, head: Head) -> str | None:
    """Return where an archived file lay: its head knows, also of what was archived twice; else its path says."""
    lay = original_path(path)
    if lay is None:
        return None
    said = normalise(head.origin) if head.origin else ""
    return said if is_memory_path(said) else lay


def _entities(content: Content, head: Head) -> tuple[Entity, ...]:
    found = [parse_entity(reference) or Entity(UNTYPED, reference) for reference in head.entities]
    found += [Entity(CONCEPT, term) for term in content.terms]
    found += [Entity(LANGUAGE, language) for language in content.languages]
    return tuple(dict.fromkeys(entity for entity in found if entity.name.strip()))


def _facets(content: Content) -> tuple[tuple[str, str, float | None], ...]:
    found: dict[tuple[str, str], float | None] = {}
    for name, value, number in content.facets:
        found.setdefault((name, value), number)
    return tuple((name, value, number) for (name, value), number in found.items())


def _citations(content: Content, head: Head) -> tuple[tuple[str, str | None, str | None, str | None], ...]:
    """Return what is cited; a quote whose address ends with the id of a cited record is a quote of that record."""
    records = dict(filter(None, map(read_reference, head.cites)))
    quoted: set[str] = set()
    rows: list[tuple[str, str | None, str | None, str | None]] = []
    for text, address, _ in content.citations:
        record = next((one for one in records if address and address.endswith(one)), None)
        if record is not None:
            quoted.add(record)
        rows.append((text, address, record, records.get(record) if record else None))
    rows += [("", None, record, sha) for record, sha in records.items() if record not in quoted]
    return tuple(dict.fromkeys(rows))


def _edges(path: str, reading: Reading) -> tuple[tuple[str, str], ...]:
    """Return relation and target of each link; one that leads nowhere or to itself is none."""
    pairs = ((relation_of(link.rel), target_of(link.href)) for link in reading.links)
    return tuple(
        dict.fromkeys((relation, target) for relation, target in pairs if relation and target and target != path)
    )


def _abbreviations(content: Content) -> list[str]:
    return [f"{short} {long}" for short, long in content.expansions]


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))


def _without(body: str, claim: str) -> str:
    """Take the claim out of the body: it has a column of its own, and would count twice."""
    before, _, after = body.partition(claim) if claim else (body, "", "")
    return f"{before}{after}"
