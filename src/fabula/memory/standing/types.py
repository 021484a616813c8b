"""What a memory's type means for its standing: how fast it ages, what counts, whether it may be evicted unasked."""

from __future__ import annotations

from typing import Final

from fabula.kernel.values import frozen

SIGNAL_NAMES: Final = (
    "recency", "access_frequency", "confidence", "pagerank", "bridge_importance", "reinforcement", "content_density",
    "uncontested",
)  # fmt: skip


@frozen
class TypeRule:
    """``half_life`` in days, ``None``: never ages. ``weights`` of the signals, in the order of ``SIGNAL_NAMES``; they
    add up to one. ``protected``: evicted only when a person asks.
    """

    half_life: float | None
    weights: tuple[float, ...]
    protected: bool = False


_DEFAULT = (0.15, 0.15, 0.15, 0.15, 0.10, 0.10, 0.10, 0.10)

RULES: Final[dict[str, TypeRule]] = {
    "episodic": TypeRule(10, (0.25, 0.15, 0.10, 0.10, 0.10, 0.10, 0.10, 0.10)),
    "semantic": TypeRule(90, (0.05, 0.15, 0.20, 0.20, 0.15, 0.10, 0.10, 0.05)),
    "procedural": TypeRule(None, (0.0, 0.20, 0.15, 0.15, 0.10, 0.20, 0.10, 0.10)),
    "agent_insight": TypeRule(30, _DEFAULT),
    "user_preference": TypeRule(30, _DEFAULT, protected=True),
    "error_pattern": TypeRule(14, (0.20, 0.15, 0.10, 0.05, 0.05, 0.20, 0.10, 0.15)),
    "verdict": TypeRule(30, _DEFAULT),
    "precedent": TypeRule(30, _DEFAULT),
    "arc": TypeRule(30, (0.10, 0.10, 0.15, 0.15, 0.15, 0.15, 0.10, 0.10), protected=True),
    "task": TypeRule(None, _DEFAULT, protected=True),  # never scored: its own state says when it is done
}
#: For a type that a newer Fabula knows.
OTHER: Final = TypeRule(30, _DEFAULT)


def rule_of(memory_type: str) -> TypeRule:
    """Return the rule of a type; one that is not known is judged as most are."""
    return RULES.get(memory_type, OTHER)
