"""What slimming must know of a whole transcript before it looks at one line: calls and their results, what later ones
replaced, and where the model's context begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.hosts.claude.chain import is_wall
from fabula.hosts.claude.fields import dict_of, text_of
from fabula.kernel.values import define, field

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_EDITS = frozenset(("Edit", "Write", "MultiEdit", "NotebookEdit"))
#: What a session is called and how it was set: written again and again; the last of each kind counts.
STATES = frozenset(("custom-title", "ai-title", "agent-name", "last-prompt", "mode", "permission-mode"))


@define
class Facts:
    """Ids of calls are tool-use ids; ``last_states`` are indexes of values."""

    tools: dict[str, str] = field(default_factory=dict)  # call → name of its tool
    stale_reads: set[str] = field(default_factory=set)  # calls whose file was read again, as much of it
    stale_edits: set[str] = field(default_factory=set)  # calls whose file was edited again
    last_states: set[int] = field(default_factory=set)
    context: int = 0  # index of the first value that the model still sees: what follows the last compaction


def blocks_of(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the blocks of a record's content."""
    content = dict_of(dict_of(value).get("message")).get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            yield block


def facts_of(values: Sequence[Any]) -> Facts:
    """Look through a whole transcript once."""
    facts = Facts()
    calls: list[tuple[str, str, dict[str, Any]]] = []
    worked: set[str] = set()  # calls with a result that is no failure
    states: dict[tuple[str, str], int] = {}
    for index, value in enumerate(values):
        if not isinstance(value, dict):
            continue
        kind = text_of(value.get("type"))
        if kind in STATES:
            states[kind, text_of(value.get("sessionId"))] = index
        elif is_wall(value):
            facts.context = index
        for block in blocks_of(value):
            if block.get("type") == "tool_use" and text_of(block.get("id")):
                facts.tools[block["id"]] = text_of(block.get("name"))
                calls.append((block["id"], facts.tools[block["id"]], dict_of(block.get("input"))))
            elif block.get("type") == "tool_result" and block.get("is_error") is not True:
                worked.add(text_of(block.get("tool_use_id")))
    facts.last_states = set(states.values())
    _find_stale(facts, calls, worked)
    return facts


def _find_stale(facts: Facts, calls: list[tuple[str, str, dict[str, Any]]], worked: set[str]) -> None:
    """Go back from the end: what a later call that worked did again is stale before."""
    read: set[tuple[str, str]] = set()
    edited: set[str] = set()
    for call, tool, given in reversed(calls):
        path = text_of(given.get("file_path")) or text_of(given.get("notebook_path"))
        if not path:
            continue
        if tool == "Read":
            part = repr([given.get(name) for name in ("offset", "limit", "pages")])
            whole = repr([None] * 3)
            if read & {(path, part), (path, whole)}:
                facts.stale_reads.add(call)
            elif call in worked:
                read.add((path, part))
        elif tool in _EDITS:
            if path in edited:
                facts.stale_edits.add(call)
            elif call in worked:
                edited.add(path)
