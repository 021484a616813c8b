"""What tokens cost, and that no price is invented."""

from __future__ import annotations

import pytest

from fabula.kernel.clock import parse_time
from fabula.record.usage.prices import Tokens, model_name, price_table, read_prices
from fabula.record.usage.summary import Response, summarise

TABLE = read_prices("""
date = "2026-01-01"
source = "a test"
[[price]]
models = ["some-4"]
input = 3
output = 15
cache_read = 0.3
cache_write = 3.75
long = { over = 1000, input = 6, output = 22.5, cache_read = 0.6, cache_write = 7.5 }
[[price]]
models = ["some-4"]
from = "2026-03-01"
input = 1
output = 5
""")


def at(day: str) -> int | None:
    return parse_time(f"{day}T12:00:00Z")


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("claude-opus-4-6", "claude-opus-4-6"),
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("anthropic/claude-sonnet-4-6", "claude-sonnet-4-6"),
        ("us.anthropic.claude-opus-4-6-v1:0", "claude-opus-4-6"),
        ("claude-sonnet-4-6[1m]", "claude-sonnet-4-6"),
        ("claude-opus-4-5@20251101", "claude-opus-4-5"),
        ("gpt-5-2025-08-07", "gpt-5"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("claude-3-5-sonnet-latest", "claude-3-5-sonnet"),
    ],
)
def test_a_model_is_known_by_its_name_alone(model: str, name: str) -> None:
    assert model_name(model) == name
    assert price_table().price(model, None) is not None


@pytest.mark.parametrize("model", ["", "<synthetic>", "glm-4.7", "gpt-5.9-turbo", "claude-opus-40", "gpt-5-mystery"])
def test_an_unknown_model_has_no_price(model: str) -> None:
    assert price_table().price(model, None) is None


def test_each_kind_of_token_has_its_price() -> None:
    price = TABLE.price("some-4", at("2026-02-01"))
    assert price is not None
    assert price.cost(Tokens(100, 200, 300, 400)) == pytest.approx((300 + 3000 + 90 + 1500) / 1e6)


def test_a_long_prompt_costs_more() -> None:
    price = TABLE.price("some-4", at("2026-02-01"))
    assert price is not None
    assert price.cost(Tokens(500, 0, 500, 0)) == pytest.approx((1500 + 150) / 1e6)
    assert price.cost(Tokens(500, 0, 501, 0)) == pytest.approx((3000 + 300.6) / 1e6)


def test_a_price_holds_from_its_day_on() -> None:
    older, newer = TABLE.price("some-4", at("2026-02-28")), TABLE.price("some-4", at("2026-03-01"))
    assert older is not None
    assert newer is not None
    assert (older.input, newer.input) == (3, 1)
    assert TABLE.price("some-4", None) == newer
    assert newer.cache_read == 1, "a kind without a price of its own is charged as input"


def test_the_table_is_dated_and_its_prices_make_sense() -> None:
    table = price_table()
    assert table.date >= "2026-11-30"
    for rows in table.prices.values():
        for row in rows:
            assert 0 < row.input <= row.output
            assert row.cache_read <= row.input


def response(model: str, day: str, *, project: str = "shop", host: str = "claude", output: int = 1_000_000) -> Response:
    return Response(model, project, host, at(day), Tokens(output=output))


def test_a_summary_adds_up_by_what_was_asked() -> None:
    responses = [
        response("some-4", "2026-02-01"),
        response("some-4", "2026-03-02", project="harbor"),
        response("other-1", "2026-03-02", host="codex"),
    ]
    by_model = summarise(responses, "model", TABLE)
    assert [(one.key, one.responses, one.cost, one.unpriced) for one in by_model.groups] == [
        ("some-4", 2, 20.0, 0),
        ("other-1", 1, 0.0, 1),
    ]
    assert (by_model.total.responses, by_model.total.cost, by_model.total.unpriced) == (3, 20.0, 1)
    assert by_model.unknown_models == ("other-1",)
    assert [one.key for one in summarise(responses, "day", TABLE).groups] == ["2026-02-01", "2026-03-02"]
    assert {one.key for one in summarise(responses, "host", TABLE).groups} == {"claude", "codex"}
    assert {one.key for one in summarise(responses, "project", TABLE).groups} == {"shop", "harbor"}


def test_no_responses_cost_nothing() -> None:
    assert summarise([], "day", TABLE).total.cost == 0
