"""The closed vocabularies, references to entities, and the grammar of times."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.memory.format import times
from fabula.memory.format.entities import Entity, is_person, parse_entity
from fabula.memory.format.vocabulary import (
    BUCKETS,
    EDGE_CLASSES,
    META_RANK,
    RELATIONS,
    STATUSES,
    TASK_STATUSES,
    TYPES,
    WRITABLE_TYPES,
    is_well_formed_edge,
    relation_of,
    token_of,
)


def test_there_are_ten_types_and_all_but_arcs_may_be_written() -> None:
    assert len(set(TYPES)) == 10
    assert set(TYPES) - set(WRITABLE_TYPES) == {"arc"}
    assert BUCKETS == ("projects", "areas", "resources", "archive")


def test_states_of_tasks_are_no_states_of_memories() -> None:
    assert TASK_STATUSES == ("todo", "doing", "blocked", "done")
    assert not set(TASK_STATUSES) & set(STATUSES)


def test_every_relation_has_one_class() -> None:
    assert len(RELATIONS) == 14
    assert set(RELATIONS.values()) == set(EDGE_CLASSES)
    assert sum(edge_class == "memory" for edge_class in RELATIONS.values()) == 9


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_relation_and_its_token_name_each_other(relation: str) -> None:
    token = token_of(relation)
    assert token.startswith("memhtml-")
    assert not set(token) & set(":_")
    assert relation_of(token) == relation


@pytest.mark.parametrize("token", ["supersedes", "memhtml-mentions", "memhtml-", "", "memhtml-caused_by"])
def test_other_tokens_name_no_relation(token: str) -> None:
    assert relation_of(token) is None


def test_twenty_two_metas_come_before_ours() -> None:
    names = sorted(META_RANK, key=META_RANK.__getitem__)
    assert [name.startswith("memhtml-") for name in names] == [True] * 22 + [False] * (len(names) - 22)
    assert all(name.startswith("fabula-") for name in names[22:])


@pytest.mark.parametrize("relation", RELATIONS)
def test_an_edge_is_of_its_relations_own_class(relation: str) -> None:
    for edge_class in EDGE_CLASSES:
        made = is_well_formed_edge("a", relation, "b", edge_class=edge_class)
        assert made == (RELATIONS[relation] == edge_class)


def test_no_edge_leads_to_itself_and_only_sleep_derives() -> None:
    assert not is_well_formed_edge("a", "supports", "a", edge_class="memory")
    assert not is_well_formed_edge("a", "supports", "b", edge_class="memory", derived=True)
    assert not is_well_formed_edge("a", "supports", "b", edge_class="memory", derived=True, provenance="import")
    assert is_well_formed_edge("a", "supports", "b", edge_class="memory", derived=True, provenance="sleep")
    assert not is_well_formed_edge("a", "supports", "b", edge_class="memory", provenance="guess")


# ── entities ────────────────────────────────────────────────────────
@given(st.text(min_size=1).filter(lambda text: ":" not in text), st.text(min_size=1))
def test_a_reference_comes_back_whole(kind: str, name: str) -> None:
    entity = parse_entity(f"{kind}:{name}")
    assert entity == Entity(kind, name)
    assert str(entity) == f"{kind}:{name}"


def test_a_reference_is_split_at_its_first_colon() -> None:
    assert parse_entity("url:https://example.com") == Entity("url", "https://example.com")


@pytest.mark.parametrize("reference", ["ana", ":ana", "person:", "", ":"])
def test_half_a_reference_is_none(reference: str) -> None:
    assert parse_entity(reference) is None
    assert not is_person(reference)


def test_only_a_named_person_is_a_person() -> None:
    assert is_person("person:ana")
    assert not is_person("tool:ana")


# ── times ───────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-07-28", datetime(2026, 7, 28, tzinfo=UTC)),
        ("2026-07-28T14:03:11Z", datetime(2026, 7, 28, 14, 3, 11, tzinfo=UTC)),
        ("2026-07-28 14:03", datetime(2026, 7, 28, 14, 3, tzinfo=UTC)),
        ("2026-07-28T14:03+02:00", datetime(2026, 7, 28, 12, 3, tzinfo=UTC)),
        ("2026-07-28T14:03:11.25-0030", datetime(2026, 7, 28, 14, 33, 11, 250_000, tzinfo=UTC)),
        ("2024-02-29", datetime(2024, 2, 29, tzinfo=UTC)),
        ("2026-06-30T23:59:60Z", datetime(2026, 6, 30, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_days_and_times_are_read(text: str, moment: datetime) -> None:
    assert times.parse(text) == moment


@pytest.mark.parametrize(
    "text",
    (
        "July 28|2026-13-45|2026-W31|14:03|P3D|2026-07|2026|2026-02-30|2026-07-28T25:00:00Z|2026-07-28T24:00"
        "|2026-07-28T12:60|2026-07-28T12:00:99|2026-07-28T12:00+25:00||2026-07-28 |2026-07-28T|２026-07-28"
        "|0000-01-01|2026-07-28\n|0001-01-01T00:00+01:00"
    ).split("|"),
)
def test_anything_else_is_no_time(text: str) -> None:
    assert not times.is_time(text)
    assert times.in_written_form(text) is None


@given(st.datetimes(datetime(1000, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC)))  # noqa: DTZ001
def test_what_is_written_is_read_and_sorts_like_time(moment: datetime) -> None:
    text = times.written(moment)
    assert times.is_written_form(text)
    assert times.parse(text) == moment.replace(microsecond=0)
    assert (text > "2026-05-14T08:20:00Z") == (moment.replace(microsecond=0) > datetime(2026, 5, 14, 8, 20, tzinfo=UTC))


def test_a_loose_time_has_a_written_form() -> None:
    assert times.in_written_form("2026-07-28T14:03+02:00") == "2026-07-28T12:03:00Z"
    assert times.in_written_form("2026-07-28") == "2026-07-28"
    assert not times.is_written_form("2026-06-30T23:59:60Z")
