"""What tokens cost: a dated table, read from package data. A model without a row has no price; none is invented."""

from __future__ import annotations

import re
import tomllib
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from fabula import data
from fabula.kernel.values import frozen

_PREFIX = re.compile(r"^(?:[a-z0-9-]+/)*(?:(?:us|eu|apac|global)\.)?(?:anthropic\.|models/)?")
_SUFFIX = re.compile(r"(?:[-@]\d{8}|[-@]20\d\d-\d\d-\d\d|-latest|-v\d+(?::\d+)?|\[1m\]|:[a-z-]+|-\d{2}-\d{2})+$")
_MILLION = 1_000_000


@frozen
class Tokens:
    """Tokens of one response."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def prompt(self) -> int:
        """All that the model read."""
        return self.input + self.cache_read + self.cache_write


@frozen
class Price:
    """US dollars for a million tokens of each kind, from a day (ms) on; ``long`` for prompts of more than ``over``."""

    since: int
    input: float
    output: float
    cache_read: float
    cache_write: float
    over: int = 0
    long: Price | None = None

    def cost(self, tokens: Tokens) -> float:
        """Return the cost of one response in US dollars."""
        if self.long is not None and tokens.prompt > self.over:
            return self.long.cost(tokens)
        asked = (
            tokens.input * self.input
            + tokens.output * self.output
            + tokens.cache_read * self.cache_read
            + tokens.cache_write * self.cache_write
        )
        return asked / _MILLION


@frozen
class PriceTable:
    """All prices and the day they were collected."""

    date: str
    source: str
    prices: dict[str, tuple[Price, ...]]

    def price(self, model: str, time: int | None) -> Price | None:
        """Return the price of a model at a time (``None``: its newest price); ``None`` when it is not in the table."""
        rows = self.prices.get(model_name(model))
        if not rows:
            return None
        if time is None:
            return rows[-1]
        return next((row for row in reversed(rows) if row.since <= time), rows[0])


def model_name(model: str) -> str:
    """Return a model's name without provider, region, date and variant marks: ``us.anthropic.claude-opus-4-6-v1:0``."""
    return _SUFFIX.sub("", _PREFIX.sub("", model.strip().lower()))


@cache
def price_table() -> PriceTable:
    """Return the table of the package; read once."""
    return read_prices(Path(data.__file__).with_name("prices.toml").read_text(encoding="utf-8"))


def read_prices(text: str) -> PriceTable:
    """Read a table from TOML."""
    read = tomllib.loads(text)
    prices: dict[str, list[Price]] = {}
    for row in read["price"]:
        price = _price(row, _day(row.get("from", "")))
        for model in row["models"]:
            prices.setdefault(model_name(model), []).append(price)
    ordered = {model: tuple(sorted(rows, key=lambda row: row.since)) for model, rows in prices.items()}
    return PriceTable(read["date"], read["source"], ordered)


def _price(row: dict[str, Any], since: int) -> Price:
    base = float(row["input"])
    long = row.get("long")
    return Price(
        since, base, float(row["output"]), float(row.get("cache_read", base)), float(row.get("cache_write", base)),
        int(long["over"]) if long else 0, _price(long, since) if long else None,
    )  # fmt: skip


def _day(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000) if text else 0
