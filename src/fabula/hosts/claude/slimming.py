"""Slimming a Claude Code transcript (``record.rewriting.slimming.Slimmer``): what can go from one that still resumes.

Kept whatever is chosen: what the person and the assistant said, signed thinking, the last title of each kind (the
client's list of sessions shows them), snapshots of files, and every record that something kept refers to.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from fabula.hosts.claude import chain
from fabula.hosts.claude.slimming_drops import drop_category
from fabula.hosts.claude.slimming_edits import EDITS, is_unsigned
from fabula.hosts.claude.slimming_facts import blocks_of, facts_of
from fabula.kernel.errors import FabulaError
from fabula.kernel.tokens import estimate_tokens
from fabula.kernel.values import define, field, frozen
from fabula.record.rewriting.lines import edited
from fabula.record.rewriting.plan import Change
from fabula.record.rewriting.slimming import Category, Saving, Slimming

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from fabula.hosts.claude.slimming_facts import Facts
    from fabula.record.rewriting.plan import Snapshot

CATEGORIES = (
    Category("noise", "progress, timings, queue, repeated titles, errors of the API"),
    Category("attachments", "reminders, listings and reports of hooks that the client attaches anew"),
    Category("dup-reads", "results of reads that a later read repeats"),
    Category("superseded", "bodies of edits to files that were edited again"),
    Category("results", "results of tools"),
    Category("inputs", "long texts in the inputs of tools"),
    Category("tool-use-result", "the client's second copies of results"),
    Category("sentinels", "recalled text, which stays named"),
    Category("images", "pictures and documents (--strip-images)", default=False),
    Category("thinking", "thinking without a signature", default=False),
    Category("walls", "compaction walls and their summaries (--mode extract)", default=False),
)
#: What the model never sees: taking it out saves bytes, not tokens.
_UNSEEN = frozenset(("noise", "tool-use-result"))
_PICTURE_TOKENS = 1_500  # of one picture: the vendor counts width × height / 750, about 1,600 at most


@frozen
class _Taken:
    """What one category took out of one record: bytes, and pictures among them."""

    key: str
    size: int
    pictures: int = 0


@define
class _Tally:
    """What each category takes."""

    records: Counter[str] = field(default_factory=Counter)
    bytes: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)

    def add(self, taken: _Taken, *, seen: bool) -> None:
        """Count what was taken out of one record; ``seen``: the model would have read it."""
        self.records[taken.key] += 1
        self.bytes[taken.key] += taken.size
        if seen and taken.key not in _UNSEEN:
            self.tokens[taken.key] += taken.pictures * _PICTURE_TOKENS or estimate_tokens(taken.size)

    def savings(self) -> tuple[Saving, ...]:
        """Return the sums, in the order of the categories."""
        order = [category.key for category in CATEGORIES]
        return tuple(Saving(key, self.records[key], self.bytes[key], self.tokens[key]) for key in order)


def slim(snapshot: Snapshot, chosen: AbstractSet[str], *, weigh_others: bool = False) -> Slimming:
    """Say what to change; ``weigh_others``: also what the other categories would take out after that.

    Raises ``ERR_CHAIN`` when the session would be left broken.
    """
    values = [found.value for found in snapshot.values]
    facts, tally = facts_of(values), _Tally()
    dropped = _dropped(values, facts, chosen)
    parents = chain.relink(values, dropped.keys())
    _require_whole(snapshot, chain.broken(values, dropped.keys(), parents))
    others = [category.key for category in CATEGORIES if weigh_others and category.key not in chosen]
    changes = []
    for index, found in enumerate(snapshot.values):
        seen = index >= facts.context or "walls" in chosen
        if index in dropped:
            tally.add(_Taken(dropped[index], found.length + 1), seen=seen)
            changes.append(Change(found.offset, found.length, None, dropped[index]))
        elif isinstance(found.value, dict):
            link = {"parentUuid": parents[index]} if index in parents else {}
            data, taken = _slimmed(snapshot.raw(found), link, facts, chosen)
            if data is not None:
                changes.append(Change(found.offset, found.length, data, taken[0].key if taken else "chain"))
            if others:
                taken += _weighed(index, found.value, data or snapshot.raw(found), facts, others)
            for one in taken:
                tally.add(one, seen=seen)
    return Slimming(tuple(changes), tally.savings(), len(parents))


def _dropped(values: Sequence[Any], facts: Facts, chosen: AbstractSet[str]) -> dict[int, str]:
    """Return the lines that go and the categories that take them, without those that something kept refers to."""
    found = {
        index: key
        for index, value in enumerate(values)
        if isinstance(value, dict) and (key := _whole_line(index, value, facts)) in chosen
    }
    for index in chain.protected(values, found.keys()):
        del found[index]
    return found


def _whole_line(index: int, value: dict[str, Any], facts: Facts) -> str:
    blocks = list(blocks_of(value))
    return "thinking" if blocks and all(map(is_unsigned, blocks)) else drop_category(index, value, facts)


def _require_whole(snapshot: Snapshot, problems: list[str]) -> None:
    if problems:
        more = f" and {len(problems) - 3} more" if len(problems) > 3 else ""
        raise FabulaError(
            "ERR_CHAIN", f"{snapshot.path} would be left broken: {'; '.join(problems[:3])}{more}; nothing was changed"
        )


def _slimmed(
    raw: bytes, link: dict[str, str | None], facts: Facts, chosen: AbstractSet[str]
) -> tuple[bytes | None, list[_Taken]]:
    """Return a line without what the chosen categories take; ``None`` when it stays as it is.

    A line that must be linked anew and cannot be edited would break the chain: that is refused.
    """
    taken: list[_Taken] = []

    def edit(value: dict[str, Any]) -> None:
        taken.extend(_take(value, len(raw), facts, [key for key in EDITS if key in chosen]))
        value.update(link)

    data = edited(raw, edit)
    if link and data is None:
        raise FabulaError("ERR_CHAIN", "a record cannot be linked anew without losing bytes of it; nothing was changed")
    if data is None or (not link and (not taken or len(data) >= len(raw))):
        return None, []
    return data, taken


def _take(value: dict[str, Any], size: int, facts: Facts, keys: Sequence[str]) -> list[_Taken]:
    """Let categories edit a record, which takes ``size`` bytes, in turn; return what each took."""
    taken = []
    for key in keys:
        pictures = EDITS[key](value, facts)
        if pictures is None:
            continue
        left = _size(value)
        taken.append(_Taken(key, size - left, pictures))
        size = left
    return taken


def _weighed(index: int, value: dict[str, Any], raw: bytes, facts: Facts, others: Sequence[str]) -> list[_Taken]:
    """Say what categories that were not chosen would take out of a line as it will be."""
    key = _whole_line(index, value, facts)
    if key in others:
        return [_Taken(key, len(raw) + 1)]
    taken: list[_Taken] = []
    edited(raw, lambda left: taken.extend(_take(left, len(raw), facts, [key for key in EDITS if key in others])))
    return taken


def _size(value: dict[str, Any]) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))
