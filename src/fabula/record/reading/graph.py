"""What of a thread is its conversation, what was thrown away by a retry, and what subagents did.

File order decides what exists; parents only annotate. A transcript is no chain: the results of parallel calls hang off
their own calls and the next reply descends from one of them, attachments and progress records sit in between, and
parents may be missing. So a record counts as abandoned only when a sibling of the same parent reached further.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

#: Records that a retry replaces. Everything else a person or an agent never says again, so it is never a rival.
_ANSWERS = frozenset({"reply", "thought", "call"})
_REPLACEABLE = _ANSWERS | {"prompt", "task"}
#: Records that a walk over parents passes through: hosts hang them anywhere.
_TRANSPARENT = frozenset({"attachment", "progress", "system", "snapshot", "title", "other"})


@frozen
class Node:
    """What the arrangement needs to know of one record."""

    uid: str
    kind: str
    parent: str = ""
    source: str = ""  # uid of the record that holds the call which this result answers
    session: int = 0
    sidechain: bool = False
    abandoned: bool = False  # the host itself says so
    response: str = ""  # API response that it is a block of; "" when unknown


@frozen
class Arrangement:
    """A thread's records by their part, as indexes into the nodes that were given, each list in file order."""

    main: tuple[int, ...]
    branches: tuple[tuple[int, ...], ...]  # abandoned subtrees, in the order of their first record
    sidechains: tuple[tuple[int, ...], ...]  # one for each subagent
    dangling: frozenset[int]  # their parent is nowhere in the record


def arrange(nodes: Sequence[Node], exists: Callable[[str], bool] = lambda _: True) -> Arrangement:
    """Sort a thread's records, given in file order, into main path, abandoned branches and sidechains.

    ``exists`` says of a uid outside the thread whether the record has it. A thread of a subagent alone is its own main
    path. Every index occurs exactly once in the three parts.
    """
    mainline = [index for index, node in enumerate(nodes) if not node.sidechain]
    side = [index for index, node in enumerate(nodes) if node.sidechain] if mainline else []
    own = mainline or range(len(nodes))
    parents = _parents(nodes, own)
    roots = _branch_roots(nodes, own, parents)
    branches: dict[int, list[int]] = {}
    for index, root in roots.items():
        branches.setdefault(root, []).append(index)
    return Arrangement(
        tuple(index for index in own if index not in roots),
        tuple(map(tuple, branches.values())),
        _sidechains(nodes, side, nodes[own[0]].session if own else 0),
        _dangling(nodes, exists),
    )


def _parents(nodes: Sequence[Node], indexes: Iterable[int]) -> dict[int, int]:
    """Map each record to the record it continues: a result its call, others the nearest ancestor that says something.

    A parent that comes later in the file is none, which also keeps malformed files from forming circles.
    """
    seen: dict[str, int] = {}
    parents: dict[int, int] = {}
    for index in indexes:
        node = nodes[index]
        found = seen.get(node.source) if node.source else None
        if found is None:
            found = seen.get(node.parent)
        while found is not None and nodes[found].kind in _TRANSPARENT:
            found = parents.get(found)
        if found is not None:
            parents[index] = found
        seen.setdefault(node.uid, index)
    return parents


def _branch_roots(nodes: Sequence[Node], indexes: Sequence[int], parents: dict[int, int]) -> dict[int, int]:
    """Map every abandoned record to the first record of its branch."""
    left = _replaced(nodes, indexes, parents)
    roots: dict[int, int] = {}
    for index in indexes:
        parent = parents.get(index)
        if parent in roots:
            roots[index] = roots[parent]
        elif index in left or nodes[index].abandoned:
            roots[index] = index
    return roots


def _replaced(nodes: Sequence[Node], indexes: Sequence[int], parents: dict[int, int]) -> set[int]:
    """Find the records that a sibling replaced: the sibling's descendants reach further down the file."""
    reach = {index: index for index in indexes}
    worked: set[int] = set()  # records below which a call has its result
    children: dict[int, list[int]] = {}
    for index in reversed(indexes):
        if index in parents and nodes[index].kind not in _TRANSPARENT:
            parent = parents[index]
            reach[parent] = max(reach[parent], reach[index])
            if index in worked or nodes[index].kind == "result":
                worked.add(parent)
            children.setdefault(parent, []).append(index)
    replaced: set[int] = set()
    for parent, siblings in children.items():
        if len(siblings) > 1:
            replaced.update(_losers(nodes, parent, siblings, reach, worked))
    return replaced


def _losers(
    nodes: Sequence[Node], parent: int, siblings: list[int], reach: dict[int, int], worked: set[int]
) -> list[int]:
    """Name the siblings that were left for the one that reaches furthest.

    An answer is asked for again when it failed, before any of its calls ran. Where answers that did run calls share a
    parent, the client writes every answer below the prompt, and none of them was replaced.
    """
    groups: dict[object, list[int]] = {}
    for index in siblings:
        groups.setdefault(nodes[index].response or index, []).append(index)
    furthest = max(reach[index] for index in siblings)
    left = [index for group in groups.values() if max(reach[each] for each in group) < furthest for index in group]
    rivals = [index for index in left if _is_rival(nodes[parent], nodes[index])]
    if any(index in worked and nodes[index].kind in _ANSWERS for index in rivals):
        return [index for index in rivals if nodes[index].kind not in _ANSWERS]
    return rivals


def _is_rival(parent: Node, node: Node) -> bool:
    """Whether a record stands for itself below its parent, rather than being a further block of the same response."""
    if node.kind not in _REPLACEABLE:
        return False
    if parent.response and node.response:
        return parent.response != node.response
    return not (parent.kind == "call" and node.kind == "call")


def _sidechains(nodes: Sequence[Node], indexes: Sequence[int], session: int) -> tuple[tuple[int, ...], ...]:
    """Group subagents' records: by session where a subagent has its own, else by the first record they descend from."""
    parents = _parents(nodes, indexes)
    groups: dict[tuple[str, int], list[int]] = {}
    keys: dict[int, tuple[str, int]] = {}
    for index in indexes:
        own = nodes[index].session
        root = keys[parents[index]] if index in parents else ("root", index)
        keys[index] = ("session", own) if own != session else root
        groups.setdefault(keys[index], []).append(index)
    return tuple(map(tuple, groups.values()))


def _dangling(nodes: Sequence[Node], exists: Callable[[str], bool]) -> frozenset[int]:
    own = {node.uid for node in nodes}
    missing: dict[str, bool] = {}
    for node in nodes:
        if node.parent and node.parent not in own and node.parent not in missing:
            missing[node.parent] = not exists(node.parent)
    return frozenset(index for index, node in enumerate(nodes) if missing.get(node.parent))
