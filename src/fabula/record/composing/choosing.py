"""Which records of a thread go into a composed session: its main path, complete, and nothing else. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fabula.kernel.values import frozen
from fabula.record.composing.pairing import Item, pair
from fabula.record.composing.parts import Copied
from fabula.record.reading.graph import arrange
from fabula.record.reading.turns import node_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabula.kernel.records import Block
    from fabula.record.composing.parts import Composer
    from fabula.record.loader import Loaded

SUBAGENTS = "records of subagents"
ABANDONED = "abandoned branches"
BOOKKEEPING = "records beside the conversation (titles, queues, snapshots)"
THOUGHTS = "thoughts (not wanted)"
UNREADABLE = "records whose bytes are not JSON any more"


@frozen
class Chosen:
    """The records that go in, in file order; how many characters they say; and why others stay out."""

    records: tuple[Copied, ...]
    characters: int
    left_out: dict[str, int]


def choose(loaded: Sequence[Loaded], composer: Composer, *, thoughts: bool = True) -> Chosen:
    """Choose from a thread's records, given in reading order."""
    main, left = main_path(loaded)

    def leave(reason: str) -> None:
        left[reason] = left.get(reason, 0) + 1

    path: list[tuple[Loaded, dict[str, Any]]] = []
    for one in main:
        value = _decoded(one.raw) if one.record.has_id else {}
        if not one.record.has_id:
            leave(BOOKKEEPING)
        elif value is None:
            leave(UNREADABLE)
        elif reason := composer.stays_out(value):
            leave(reason)
        elif not thoughts and _only_thinks(one):
            leave(THOUGHTS)
        else:
            path.append((one, value))
    cut = pair([_item(one, value, composer) for one, value in path])
    for reason in cut.records.values():
        leave(reason)
    records, characters = [], 0
    for index, (one, value) in enumerate(path):
        if index in cut.records:
            continue
        lone = cut.blocks.get(index, frozenset())
        records.append(Copied(one.row.uid, composer.without(value, lone, thoughts=not thoughts)))
        characters += sum(
            characters_of(block)
            for block in one.record.blocks
            if (block.kind, block.tool_id) not in lone and (thoughts or block.kind != "thought")
        )
    return Chosen(tuple(records), characters, dict(sorted(left.items())))


def main_path(loaded: Sequence[Loaded]) -> tuple[list[Loaded], dict[str, int]]:
    """Return a thread's records that are its conversation, and how many others there are by the reason."""
    arrangement = arrange([node_of(one) for one in loaded])
    left = {SUBAGENTS: sum(map(len, arrangement.sidechains)), ABANDONED: sum(map(len, arrangement.branches))}
    return [loaded[index] for index in arrangement.main], {reason: count for reason, count in left.items() if count}


def _decoded(raw: bytes) -> dict[str, Any] | None:
    """Read a record as its agent does: bytes that are no UTF-8 become U+FFFD; ``None`` for what is no JSON object."""
    try:
        value = json.loads(raw.decode("utf-8", "replace"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _only_thinks(one: Loaded) -> bool:
    return bool(one.record.blocks) and all(block.kind == "thought" for block in one.record.blocks)


def _item(one: Loaded, value: dict[str, Any], composer: Composer) -> Item:
    blocks = one.record.blocks
    return Item(
        tuple(block.tool_id for block in blocks if block.kind == "call"),
        tuple(block.tool_id for block in blocks if block.kind == "result"),
        composer.answer_of(value),
        any(block.kind not in {"call", "result", "thought"} for block in blocks) or not blocks,
        any(block.kind == "thought" for block in blocks),
    )


def characters_of(block: Block) -> int:
    """Return how many characters a block says, arguments of calls included."""
    return len(block.text) + (len(json.dumps(block.input)) if block.kind == "call" and block.input else 0)
