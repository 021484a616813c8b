"""The verb ``record diff``: what a rewriting did to a session's file, record by record."""

from __future__ import annotations

import tempfile
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from fabula.app.record.reading import clean
from fabula.app.record.restore import find_sealed
from fabula.kernel.errors import FabulaError
from fabula.kernel.records import SourceFile
from fabula.kernel.values import frozen, replace
from fabula.record.containers.jsonl import JsonLines
from fabula.record.loader import by_host
from fabula.record.rewriting.comparing import Comparison, Item, compare, difference, items
from fabula.record.rewriting.links import link_of
from fabula.record.scan.changes import is_plain
from fabula.record.vault.vault import Vault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabula.app.wiring import App
    from fabula.record.rewriting.comparing import Pair
    from fabula.record.vault.values import Generation, SourceEntry

DEFAULT_LIMIT = 20


@frozen
class DiffRequest:
    """``target``: a session's id or the path of a file that was sealed.

    ``generations`` are two numbers, by default the last two; ``limit``: how many records of each list are shown.
    """

    target: str
    generations: tuple[str, ...] = ()
    limit: int = DEFAULT_LIMIT


@frozen
class RecordLine:
    """A record that only one generation holds."""

    id: str
    kind: str
    bytes: int


@frozen
class ChangedRecord:
    """A record whose bytes differ; ``diff`` are lines of a unified difference of its indented JSON."""

    id: str
    kind: str
    before: int
    after: int
    diff: tuple[str, ...]


@frozen
class GenerationLine:
    """One of the two states; ``kind`` says which rewriting of ours made it, or ""."""

    number: int
    provenance: str
    kind: str
    size: int


@frozen
class DiffResult:
    """Counts are of all records, lists are cut to the limit. Sizes in bytes."""

    path: str
    host: str
    session: str
    before: GenerationLine
    after: GenerationLine
    kept: int
    kept_bytes: int
    changed: int
    changed_bytes: tuple[int, int]  # before and after
    dropped: int
    dropped_bytes: int
    added: int
    added_bytes: int
    changes: tuple[ChangedRecord, ...]
    drops: tuple[RecordLine, ...]
    additions: tuple[RecordLine, ...]


def diff(app: App, request: DiffRequest) -> DiffResult:
    """Compare two generations. Raises ``ERR_NO_RECORD``, ``ERR_NOT_FOUND``, ``ERR_AMBIGUOUS``, ``ERR_USAGE``,
    ``ERR_VAULT_DAMAGED``.
    """
    app.refresh()
    with Vault.open(app.home.vault, app.clock, read_only=True) as vault:
        entry = find_sealed(app, vault.sources(), request.target, "diff")
        old, new = _two(entry, request)
        found = compare(_items(app, vault, entry, old), _items(app, vault, entry, new))
        lines = _line(vault, old), _line(vault, new)
    return _result(entry, lines, found, request.limit)


def _two(entry: SourceEntry, request: DiffRequest) -> tuple[Generation, Generation]:
    """Return the two generations to compare. Raises ``ERR_USAGE``, ``ERR_NOT_FOUND``."""
    known = {generation.number: generation for generation in entry.generations}
    numbers = sorted(known)
    words = request.generations
    if len(words) not in (0, 2) or not all(word.isdecimal() for word in words):
        raise FabulaError("ERR_USAGE", "name two generations by their numbers, or none for the last two")
    if not words and len(numbers) < 2:
        raise FabulaError("ERR_NOT_FOUND", f"{entry.path} was never rewritten: it has one generation")
    first, second = map(int, words) if words else numbers[-2:]
    for number in (first, second):
        if number not in known:
            last = f"fabula record diff {quote(entry.path)} {' '.join(map(str, numbers[-2:]))}"
            raise FabulaError("ERR_NOT_FOUND", f"{entry.path} has no generation {number}; it has {numbers}", last)
    return known[first], known[second]


def _items(app: App, vault: Vault, entry: SourceEntry, generation: Generation) -> Iterator[Item]:
    """Read a sealed generation as its host's source reads a file; what was forgotten is no value any more."""
    source = by_host(app.sources()).get(entry.host)
    if source is None:
        raise FabulaError("ERR_HOST", f"no source reads the transcripts of {entry.host} any more")
    file = SourceFile(
        entry.host, entry.path, entry.kind, entry.session, generation.size, 0, 0, 0, entry.parent,
        immutable=True, provenance=generation.provenance, generation=generation.number,
    )  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="fabula-") as folder:
        copy = Path(folder) / (Path(entry.path.partition("#")[0]).name or "source")
        vault.restore(generation.id, copy, fill=b" ")
        plain = is_plain(entry.path)  # rows and compressed lines are sealed as lines
        container = source.container(replace(file, path=str(copy))) if plain else JsonLines(str(copy))
        yield from items(container, source.normaliser(file, None))


def _line(vault: Vault, generation: Generation) -> GenerationLine:
    link = link_of(vault.journal, generation)
    return GenerationLine(generation.number, generation.provenance, link.kind if link else "", generation.size)


def _result(
    entry: SourceEntry, lines: tuple[GenerationLine, GenerationLine], found: Comparison, limit: int
) -> DiffResult:
    return DiffResult(
        path=entry.path,
        host=entry.host,
        session=entry.session,
        before=lines[0],
        after=lines[1],
        kept=found.kept,
        kept_bytes=found.kept_bytes,
        changed=len(found.changed),
        changed_bytes=(
            sum(len(pair.before.raw) for pair in found.changed),
            sum(len(pair.after.raw) for pair in found.changed),
        ),
        dropped=len(found.dropped),
        dropped_bytes=sum(len(item.raw) for item in found.dropped),
        added=len(found.added),
        added_bytes=sum(len(item.raw) for item in found.added),
        changes=tuple(_changed(pair) for pair in found.changed[:limit]),
        drops=tuple(RecordLine(item.uid, item.kind, len(item.raw)) for item in found.dropped[:limit]),
        additions=tuple(RecordLine(item.uid, item.kind, len(item.raw)) for item in found.added[:limit]),
    )


def _changed(pair: Pair) -> ChangedRecord:
    lines = difference(pair, clean)
    return ChangedRecord(pair.after.uid, pair.before.kind, len(pair.before.raw), len(pair.after.raw), tuple(lines))
