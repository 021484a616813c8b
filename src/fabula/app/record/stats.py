"""The verb ``record stats``: how much there is, what it weighs, and what it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.record.reading import scope_of
from fabula.app.status import folder_bytes
from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.record.usage.counts import Counts, MapCounts, counts_by, map_counts, responses
from fabula.record.usage.summary import By, UsageSummary, summarise

if TYPE_CHECKING:
    from fabula.app.access import Freshness
    from fabula.app.wiring import App


@frozen
class StatsRequest:
    """``usage``: tokens and cost as well. ``by``: day, project, model or host. Times in ms."""

    usage: bool = False
    by: By | None = None
    all: bool = False
    since: int | None = None
    until: int | None = None


@frozen
class Sizes:
    """Bytes of vault and map, characters of searchable text, and the budget that ``doctor`` warns at.

    ``sealed_bytes`` are all generations as files, ``vault_bytes`` what they take.
    """

    vault_bytes: int
    sealed_bytes: int
    map_bytes: int
    searchable_characters: int
    budget_bytes: int
    within_budget: bool


@frozen
class Costs:
    """Usage in US dollars by a price table of ``prices_date``."""

    summary: UsageSummary
    prices_date: str
    prices_source: str


@frozen
class StatsResult:
    """``total`` and the counts by host are of ``scope``; ``map`` and ``sizes`` are of everything."""

    scope: str
    total: Counts
    hosts: tuple[Counts, ...]
    by: str
    groups: tuple[Counts, ...]
    map: MapCounts
    sizes: Sizes
    costs: Costs | None
    fresh: Freshness


_NOTHING = Counts("all", 0, 0, 0, 0, None, None)


def stats(app: App, request: StatsRequest) -> StatsResult:
    """Count and weigh. Raises ``ERR_NO_RECORD``, ``ERR_DATABASE``, ``ERR_USAGE``."""
    if request.by == "model" and not request.usage:
        raise FabulaError("ERR_USAGE", "only usage is known by model", "fabula record stats --usage --by model")
    fresh = app.refresh()
    reader = app.reader()
    window, scope = scope_of(app, everything=request.all, since=request.since, until=request.until)
    costs = None
    if request.usage:
        from fabula.record.usage.prices import price_table

        table = price_table()
        summary = summarise(responses(reader, window), request.by or "model", table)
        costs = Costs(summary, table.date, table.source)
    total = counts_by(reader, window, "all")
    grouped = request.by if request.by not in (None, "model") else ""
    overall = map_counts(reader)
    return StatsResult(
        scope,
        total[0] if total else _NOTHING,
        tuple(counts_by(reader, window, "host")),
        request.by or "",
        tuple(counts_by(reader, window, grouped)) if grouped else (),
        overall,
        _sizes(app, overall),
        costs,
        fresh,
    )


def _sizes(app: App, overall: MapCounts) -> Sizes:
    vault = app.vault()
    vault_bytes = folder_bytes(app.home.vault)
    map_bytes = sum(path.stat().st_size for path in app.home.root.glob("map.db*") if path.is_file())
    budget = app.config["record.size_budget_mb"] * 1_000_000
    return Sizes(
        vault_bytes,
        vault.stats().sealed_bytes if vault is not None else 0,
        map_bytes,
        overall.searchable_characters,
        budget,
        vault_bytes + map_bytes <= budget,
    )
