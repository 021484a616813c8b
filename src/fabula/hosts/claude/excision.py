"""Taking whole threads out of a Claude Code transcript: which lines go with them, and what of the others must change.

Pure. A wall (a compaction's boundary with its summary) stays, whatever thread it stands in: for the model it stands for
everything before it. Calls and results are never parted: a result goes with its call unless it holds something else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.hosts.claude.chain import broken, is_wall, relink, uuid_of
from fabula.hosts.claude.fields import dict_of, text_of
from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.record.rewriting.lines import edited
from fabula.record.rewriting.plan import Change

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from fabula.record.rewriting.plan import Snapshot

THREAD, ECHO, CHAIN = "thread", "echo", "chain"  # ``Change.why``

_PRESERVED_ENDS = ("headUuid", "anchorUuid", "tailUuid")
_PRESERVED_LISTS = ("uuids", "allUuids")


@frozen
class Excision:
    """What goes, by index of the value, and how it came to that."""

    dropped: frozenset[int]
    echoes: frozenset[int]  # lines without uuid that only repeat what goes: queued prompts, last prompts, summaries
    walls: frozenset[int]  # of the threads' records, those that stay because they are a compaction's
    bound: frozenset[int]  # those that stay because a call or result of theirs belongs to a thread that stays
    drawn: frozenset[int]  # records of other threads that go because their call does


def excision(values: Sequence[Any], members: AbstractSet[int]) -> Excision:
    """Decide what goes when the records ``members`` (indexes of values) are to go. Every other record stays."""
    named = {index for index in members if uuid_of(values[index])}
    walls = {index for index in named if is_wall(values[index]) or values[index].get("isCompactSummary") is True}
    dropped, bound, drawn = _whole_pairs(values, named - walls)
    echoes = frozenset(_echoes(values, dropped))
    return Excision(frozenset(dropped), echoes, frozenset(walls), frozenset(bound), frozenset(drawn))


def is_talk(value: object) -> bool:
    """Say whether a value is a part of a conversation: something that a person, a model or a tool said."""
    return isinstance(value, dict) and bool(uuid_of(value)) and isinstance(value.get("message"), dict)


def changes(snapshot: Snapshot, cut: Excision) -> list[Change]:
    """Return the changes of an excision. Raises ``ERR_CHAIN`` when the session would be left broken."""
    values = [found.value for found in snapshot.values]
    gone = cut.dropped | cut.echoes
    parents = relink(values, gone)
    problems = broken(values, gone, parents)
    if problems:
        raise FabulaError("ERR_CHAIN", f"{snapshot.path}: {problems[0]}", "leave that thread in the session")
    spans = snapshot.values
    found = [
        Change(spans[index].offset, spans[index].length, None, ECHO if index in cut.echoes else THREAD)
        for index in sorted(gone)
    ]
    above = {uuid: _above(values[index]) for index in cut.dropped if (uuid := uuid_of(values[index]))}
    names = above.keys()
    for index, value in enumerate(values):
        if index in gone or not isinstance(value, dict):
            continue
        if index in parents or _refers(value, names):
            found.append(_changed(snapshot, index, parents, names, above))
    return found


def _changed(
    snapshot: Snapshot, index: int, parents: dict[int, str | None], names: AbstractSet[str], above: dict[str, str]
) -> Change:
    span = snapshot.values[index]

    def edit(value: dict[str, Any]) -> None:
        if index in parents:
            value["parentUuid"] = parents[index]
        if text_of(value.get("sourceToolAssistantUUID")) in names:
            del value["sourceToolAssistantUUID"]
        if is_wall(value):
            _forget_in_wall(value, names, above)

    data = edited(snapshot.raw(span), edit)
    if data is None:
        raise FabulaError(
            "ERR_CHAIN",
            f"{snapshot.path}: the record at byte {span.offset} cannot be linked anew without losing bytes of it",
            "leave the thread before it in the session",
        )
    return Change(span.offset, span.length, data, CHAIN)


def _forget_in_wall(wall: dict[str, Any], names: AbstractSet[str], above: dict[str, str]) -> None:
    """Let a wall name only what is left. A preserved part that lost an end, or all of itself, is preserved no more."""
    old = text_of(wall.get("logicalParentUuid"))
    met: set[str] = set()
    while old in names and old not in met:
        met.add(old)
        old = above.get(old, "")
    if "logicalParentUuid" in wall:
        wall["logicalParentUuid"] = old or None
    metadata = dict_of(wall.get("compactMetadata"))
    messages = dict_of(metadata.get("preservedMessages"))
    for name in _PRESERVED_LISTS:
        if isinstance(messages.get(name), list):
            messages[name] = [uuid for uuid in messages[name] if text_of(uuid) not in names]
    kept = messages.get("uuids")
    segment = dict_of(metadata.get("preservedSegment"))
    lost = [name for name in _PRESERVED_ENDS if text_of(segment.get(name)) in names]
    if lost and isinstance(kept, list) and kept and "anchorUuid" not in lost:
        segment |= {name: kept[0 if name == "headUuid" else -1] for name in lost}
    elif lost:
        metadata.pop("preservedSegment", None)
    if text_of(messages.get("anchorUuid")) in names or (isinstance(kept, list) and not kept):
        metadata.pop("preservedMessages", None)
        metadata.pop("preservedSegment", None)


def _refers(value: dict[str, Any], names: AbstractSet[str]) -> bool:
    """Say whether a kept value names a record that goes, besides by its parent."""
    if text_of(value.get("sourceToolAssistantUUID")) in names:
        return True
    if not is_wall(value):
        return False
    metadata = dict_of(value.get("compactMetadata"))
    messages, segment = dict_of(metadata.get("preservedMessages")), dict_of(metadata.get("preservedSegment"))
    named = [value.get("logicalParentUuid"), messages.get("anchorUuid"), *map(segment.get, _PRESERVED_ENDS)]
    for name in _PRESERVED_LISTS:
        listed = messages.get(name)
        named += listed if isinstance(listed, list) else []
    return any(isinstance(uuid, str) and uuid in names for uuid in named)


# ── calls and results ────────────────────────────────────────────────


def _whole_pairs(values: Sequence[Any], wanted: set[int]) -> tuple[set[int], set[int], set[int]]:
    """Return what goes so that no call is parted from its result, what of it stays for that, and what else goes."""
    ends: dict[str, set[int]] = {}  # of a tool id: the records that hold its call or its result
    calls: dict[str, set[int]] = {}
    results: set[int] = set()
    for index, value in enumerate(values):
        asked, answered = _tools(value)
        for tool in (*asked, *answered):
            ends.setdefault(tool, set()).add(index)
        for tool in asked:
            calls.setdefault(tool, set()).add(index)
        if answered:
            results.add(index)
    leaving = {tool for tool, places in calls.items() if places <= wanted}
    drawn = {index for index in results - wanted if _only_answers(values[index], leaving)}
    dropped = wanted | drawn
    while parted := {index for places in ends.values() if not places <= dropped for index in places & dropped}:
        dropped -= parted  # what stays draws its other ends back
    return dropped, wanted - dropped, drawn & dropped


def _tools(value: object) -> tuple[list[str], list[str]]:
    """Return the ids of a record's calls and of its results."""
    content = dict_of(value.get("message")).get("content") if isinstance(value, dict) else None
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    asked = [text_of(block.get("id")) for block in blocks if block.get("type") == "tool_use"]
    answered = [text_of(block.get("tool_use_id")) for block in blocks if block.get("type") == "tool_result"]
    return [tool for tool in asked if tool], [tool for tool in answered if tool]


def _only_answers(value: dict[str, Any], leaving: AbstractSet[str]) -> bool:
    """Say whether a record holds nothing but results of calls that go."""
    return all(
        isinstance(block, dict) and block.get("type") == "tool_result" and block.get("tool_use_id") in leaving
        for block in value["message"]["content"]
    )


# ── lines without an id ──────────────────────────────────────────────


def _echoes(values: Sequence[Any], dropped: AbstractSet[int]) -> list[int]:
    """Find the lines without uuid that repeat what goes: last prompts, legacy summaries, queued prompts."""
    names = {uuid for index in dropped if (uuid := uuid_of(values[index]))}
    gone = {text for index in dropped for text in _prompts(values[index])}
    gone -= {text for index, value in enumerate(values) if index not in dropped for text in _prompts(value)}
    found = []
    after_queued = False
    for index, value in enumerate(values):
        if not isinstance(value, dict) or uuid_of(value):
            continue
        kind = value.get("type")
        if kind in ("last-prompt", "summary"):
            leaf, text = text_of(value.get("leafUuid")), text_of(value.get("lastPrompt")).removesuffix("…")
            repeats = not leaf and text != "" and any(prompt.startswith(text) for prompt in gone)
            if leaf in names or repeats:
                found.append(index)
        elif kind == "queue-operation":
            text = text_of(value.get("content"))
            if (text and text in gone) or (not text and after_queued):
                found.append(index)
            after_queued = bool(text) and text in gone
    return found


def _prompts(value: object) -> list[str]:
    """Return the texts of a user record, as a queue would hold them."""
    if not isinstance(value, dict) or value.get("type") != "user":
        return []
    content = dict_of(value.get("message")).get("content")
    if isinstance(content, str):
        return [content]
    blocks = content if isinstance(content, list) else []
    return [text_of(block.get("text")) for block in blocks if isinstance(block, dict) and block.get("type") == "text"]


def _above(value: dict[str, Any]) -> str:
    return text_of(value.get("parentUuid"))
