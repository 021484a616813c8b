"""Calls and their results in a row of records: what must go so that no call lacks its result, no result its call.

An agent's model refuses a conversation in which a call has no result, a result no call, or an answer ends with a
thought. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

#: One end of a pair: ``("call", tool id)`` or ``("result", tool id)``.
End = tuple[str, str]

UNANSWERED = "calls without a result"
UNASKED = "results without a call"
UNFINISHED = "thoughts of answers that were never given"


@frozen
class Item:
    """What pairing needs to know of one record. ``calls`` and ``results`` are tool ids; ``answer`` is the API response
    that it is a part of, ``""`` when unknown; ``says``: it holds more than calls, results and thoughts.
    """

    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    answer: str = ""
    says: bool = False
    thinks: bool = False


@frozen
class Cut:
    """What to take out: whole records (by index, with the reason), and single tool blocks of records that stay."""

    records: dict[int, str]
    blocks: dict[int, frozenset[End]]  # calls and results to take out of records that stay


def pair(items: Sequence[Item]) -> Cut:
    """Say what must go. Of several results of one call the first counts, and of several calls with one id."""
    calls: dict[str, int] = {}
    results: dict[str, int] = {}
    for index, item in enumerate(items):
        for tool in item.calls:
            calls.setdefault(tool, index)
        for tool in item.results:
            if tool in calls:
                results.setdefault(tool, index)
    records: dict[int, str] = {}
    blocks: dict[int, frozenset[End]] = {}
    for index, item in enumerate(items):
        ends = {*(("call", tool) for tool in item.calls), *(("result", tool) for tool in item.results)}
        lone = {
            (end, tool)
            for end, tool in ends
            if (end == "call" and (tool not in results or calls[tool] != index))
            or (end == "result" and results.get(tool) != index)
        }
        if not lone:
            continue
        if item.says or item.thinks or lone != ends:
            blocks[index] = frozenset(lone)
        else:
            records[index] = UNANSWERED if item.calls else UNASKED
    _drop_lone_thoughts(items, records, blocks)
    return Cut(records, blocks)


def _drop_lone_thoughts(items: Sequence[Item], records: dict[int, str], blocks: dict[int, frozenset[End]]) -> None:
    """Drop thoughts whose answer has nothing else left: records of one answer stand next to each other."""
    groups: dict[str, list[int]] = {}
    for index, item in enumerate(items):
        if index in records or not (item.thinks or item.says or item.calls):
            continue
        groups.setdefault(item.answer or f"#{index}", []).append(index)
    for members in groups.values():
        if any(items[index].says or _still_asks(items[index], blocks.get(index, frozenset())) for index in members):
            continue
        for index in members:
            if items[index].thinks and not items[index].results:
                records[index] = UNFINISHED
                blocks.pop(index, None)


def _still_asks(item: Item, gone: frozenset[End]) -> bool:
    return any(("call", tool) not in gone for tool in item.calls)
