"""Measures of a graph of memories: rank, communities, bridges. Pure; the order of the edges makes no difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.memory.standing.constants import (
    COMMUNITY_LEAST,
    COMMUNITY_SWEEPS,
    PAGERANK_DAMPING,
    PAGERANK_ROUNDS,
    PAGERANK_TOLERANCE,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fabula.memory.links.edges import Edge

Weights = dict[str, dict[str, float]]  # by source, by target


def weighed(nodes: Iterable[str], edges: Iterable[Edge]) -> Weights:
    """Return the strengths between nodes, all sorted: parallel edges count as their strongest; an edge of a node with
    itself, without strength, or with an end that is no node is left out.
    """
    found: Weights = {node: {} for node in sorted(set(nodes))}
    for edge in edges:
        if edge.source == edge.target or edge.target not in found or edge.source not in found or edge.strength <= 0:
            continue
        row = found[edge.source]
        row[edge.target] = max(row.get(edge.target, 0.0), edge.strength)
    return {node: dict(sorted(row.items())) for node, row in found.items()}


def pagerank(nodes: Iterable[str], edges: Iterable[Edge], seeds: Mapping[str, float] | None = None) -> dict[str, float]:
    """Return the rank of each node; they add up to one.

    ``rank = (1 - d)·t + d·(Σ rank(source) · strength share + dangling · t)`` with d = 0.85, until the changes add up to
    less than 1e-6 a node or after a hundred rounds. ``t`` is even, or after the positive ``seeds`` that are nodes.
    """
    weights = {node: _relative(row) for node, row in weighed(nodes, edges).items()}
    if not weights:
        return {}
    teleport = _teleport(weights, seeds or {})
    totals = {node: sum(row.values()) for node, row in weights.items()}
    ranks = dict(teleport)
    for _ in range(PAGERANK_ROUNDS):
        dangling = sum(ranks[node] for node, total in totals.items() if not total)
        after = {node: (1 - PAGERANK_DAMPING + PAGERANK_DAMPING * dangling) * teleport[node] for node in weights}
        for node, row in weights.items():
            for target, strength in row.items():
                after[target] += PAGERANK_DAMPING * ranks[node] * strength / totals[node]
        change = sum(abs(after[node] - ranks[node]) for node in weights)
        ranks = after
        if change < PAGERANK_TOLERANCE * len(weights):
            break
    return ranks


def _relative(row: Mapping[str, float]) -> dict[str, float]:
    """Return strengths beside the strongest: shares of tiny ones would lose every digit otherwise."""
    strongest = max(row.values(), default=1.0)
    return {target: strength / strongest for target, strength in row.items()}


def _teleport(weights: Weights, seeds: Mapping[str, float]) -> dict[str, float]:
    valid = {node: seeds[node] for node in weights if seeds.get(node, 0.0) > 0}
    total = sum(valid.values())
    return {node: valid.get(node, 0.0) / total if valid else 1 / len(weights) for node in weights}


def communities(nodes: Iterable[str], edges: Iterable[Edge]) -> dict[str, str]:
    """Return the community of each node that has one, named by its smallest member; fewer than three are none.

    Labels spread along edges in either direction: each node in turn takes the label that weighs most among its
    neighbours, of equal ones the smallest, until nothing changes or after a hundred sweeps.
    """
    both = _both_ways(weighed(nodes, edges))
    labels = {node: node for node in both}
    for _ in range(COMMUNITY_SWEEPS):
        changed = False
        for node, row in both.items():
            votes: dict[str, float] = {}
            for neighbour, strength in row.items():
                votes[labels[neighbour]] = votes.get(labels[neighbour], 0.0) + strength
            best = min(votes, key=lambda label: (-votes[label], label)) if votes else labels[node]
            changed, labels[node] = changed or best != labels[node], best
        if not changed:
            break
    members: dict[str, list[str]] = {}
    for node, label in labels.items():
        members.setdefault(label, []).append(node)
    return {node: group[0] for group in members.values() if len(group) >= COMMUNITY_LEAST for node in sorted(group)}


def _both_ways(weights: Weights) -> Weights:
    found: Weights = {node: {} for node in weights}
    for source, row in weights.items():
        for target, strength in row.items():
            for one, other in ((source, target), (target, source)):
                found[one][other] = max(found[one].get(other, 0.0), strength)
    return {node: dict(sorted(row.items())) for node, row in found.items()}


def bridges(groups: Mapping[str, str], edges: Iterable[Edge]) -> dict[str, int]:
    """Return how many neighbours in another community each node has; who has none, or is in no community, is not named.

    Several edges between the same two count once.
    """
    pairs = {frozenset((edge.source, edge.target)) for edge in edges}
    counts: dict[str, int] = {}
    for pair in pairs:
        if len(pair) == 2 and len({groups.get(end) for end in pair} - {None}) == 2:
            for end in pair:
                counts[end] = counts.get(end, 0) + 1
    return dict(sorted(counts.items()))
