"""Two generations of one file compared record by record: kept, changed, dropped, added."""

from __future__ import annotations

import difflib
import json
from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING

from fabula.kernel.values import define, field, frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from fabula.record.sources import Container, Found, Normaliser

_CONTEXT = 2  # lines around a difference
_LINES = 400  # of one difference that are shown
_WIDTH = 400  # characters of a line that are shown


@frozen
class Item:
    """One value of a generation. ``uid`` is its record's id, "" for what is no record."""

    uid: str
    kind: str
    offset: int
    raw: bytes


@frozen
class Pair:
    """A record that both generations hold, in other bytes."""

    before: Item
    after: Item


@define
class Comparison:
    """What a rewriting did to the values of a file; ``other_bytes`` are those outside of values, before and after."""

    kept: int = 0
    kept_bytes: int = 0
    changed: list[Pair] = field(default_factory=list)
    dropped: list[Item] = field(default_factory=list)
    added: list[Item] = field(default_factory=list)


def items(container: Container, normaliser: Normaliser) -> Iterator[Item]:
    """Read every value of a generation. Raises ``OSError``."""
    for chunk in container.chunks():
        for found in chunk.values:
            begin = found.offset - chunk.offset
            raw = chunk.data[begin : begin + found.length]
            uid, kind = _named(found, normaliser)
            if found.counts:
                yield Item(uid, kind, found.offset, raw)


def _named(found: Found, normaliser: Normaliser) -> tuple[str, str]:
    """Return the id and kind of a value's record, or "" and why it is none."""
    if not isinstance(found.value, dict):
        return "", "not-an-object"
    record = normaliser.normalise(found.value, found.offset, found.length)
    return ("", record) if isinstance(record, str) else (record.uid, record.kind)


def compare(before: Iterable[Item], after: Iterable[Item]) -> Comparison:
    """Compare two generations: equal bytes are kept, the same id in other bytes is changed. Order plays no part."""
    found = Comparison()
    left: defaultdict[bytes, list[Item]] = defaultdict(list)
    old = list(before)
    for item in old:
        left[item.raw].append(item)
    fresh = []
    kept: set[int] = set()  # offsets in the generation before
    for item in after:
        same = left.get(item.raw)
        if same:
            kept.add(same.pop().offset)
            found.kept += 1
            found.kept_bytes += len(item.raw)
        else:
            fresh.append(item)
    named: defaultdict[str, list[Item]] = defaultdict(list)
    for item in old:
        if item.offset not in kept:
            named[item.uid].append(item)
    for item in fresh:
        mates = named.get(item.uid) if item.uid else None
        if mates:
            found.changed.append(Pair(mates.pop(0), item))
        else:
            found.added.append(item)
    found.dropped = sorted((item for rest in named.values() for item in rest), key=lambda item: item.offset)
    return found


def difference(pair: Pair, shown: Callable[[str], str]) -> list[str]:
    """Return the unified difference of two records as lines of indented JSON with sorted keys.

    ``shown`` takes out what is not to be shown. Long lines and long differences are cut, and say so.
    """
    old, new = (_lines(item.raw, shown) for item in (pair.before, pair.after))
    lines = [
        line if len(line) <= _WIDTH else f"{line[:_WIDTH]}… ({len(line) - _WIDTH:,} more characters)"
        for line in list(difflib.unified_diff(old, new, lineterm="", n=_CONTEXT))[2:]
    ]
    return lines if len(lines) <= _LINES else [*lines[:_LINES], f"… ({len(lines) - _LINES:,} more lines)"]


def _lines(raw: bytes, shown: Callable[[str], str]) -> list[str]:
    text = raw.decode("utf-8", "replace")
    with suppress(ValueError, RecursionError):  # then it is shown as it is
        text = json.dumps(json.loads(text), indent=1, sort_keys=True, ensure_ascii=False)
    return shown(text).splitlines()
