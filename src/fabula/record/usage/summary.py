"""Adding up what API responses took, each counted once, by day, project, model or host. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fabula.kernel.clock import format_time
from fabula.kernel.values import define, frozen
from fabula.record.usage.prices import Tokens, model_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabula.record.usage.prices import PriceTable

By = Literal["day", "project", "model", "host"]


@frozen
class Response:
    """One API response. ``time`` in ms."""

    model: str
    project: str
    host: str
    time: int | None
    tokens: Tokens


@define
class Usage:
    """A sum. ``cost`` in US dollars is that of the responses with a known price; ``unpriced`` counts the others."""

    key: str
    responses: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: float = 0.0
    unpriced: int = 0

    def add(self, tokens: Tokens, cost: float | None) -> None:
        """Count one response."""
        self.responses += 1
        self.input += tokens.input
        self.output += tokens.output
        self.cache_read += tokens.cache_read
        self.cache_write += tokens.cache_write
        if cost is None:
            self.unpriced += 1
        else:
            self.cost += cost


@frozen
class UsageSummary:
    """The whole, its groups, and the models that have no price."""

    total: Usage
    groups: tuple[Usage, ...]
    unknown_models: tuple[str, ...]
    by: str = "model"


def summarise(responses: Iterable[Response], by: By, prices: PriceTable) -> UsageSummary:
    """Add up responses. Days are in order, other groups by cost and then tokens."""
    total = Usage("total")
    groups: dict[str, Usage] = {}
    unknown: set[str] = set()
    for response in responses:
        price = prices.price(response.model, response.time)
        if price is None:
            unknown.add(response.model or "unknown")
        cost = None if price is None else price.cost(response.tokens)
        key = _key(response, by)
        total.add(response.tokens, cost)
        groups.setdefault(key, Usage(key)).add(response.tokens, cost)
    for usage in (total, *groups.values()):
        usage.cost = round(usage.cost, 6)
    ordered = sorted(groups.values(), key=lambda one: one.key)
    if by != "day":
        ordered.sort(key=lambda one: (-one.cost, -one.output, one.key))
    return UsageSummary(total, tuple(ordered), tuple(sorted(unknown)), by)


def _key(response: Response, by: By) -> str:
    if by == "day":
        return format_time(response.time)[:10] or "unknown"
    if by == "model":
        return model_name(response.model) or "unknown"
    return (response.project if by == "project" else response.host) or "unknown"
