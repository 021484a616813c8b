"""The state of a memory is what its events come to, whichever machine logged them, in whatever order they are read."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.memory.standing.reinforcement import (
    EMPTY,
    Event,
    State,
    after,
    cooled_down,
    fold,
    follows,
    is_event,
    key_of,
    moved,
)

COOLDOWN = 900_000
signals = st.sampled_from(["positive", "negative", "neutral"])
events = st.lists(
    st.builds(
        Event,
        st.text("0123456789", min_size=1, max_size=2),
        st.integers(0, 5_000_000),
        st.sampled_from(["areas/a.html", "/areas/a.html", "areas//b.html", "areas/b.html", "areas/c.html"]),
        signals,
    ),
    max_size=25,
)


def read(*pairs: tuple[int, str]) -> State:
    logged = [Event(f"{number:03}", at, "a", signal) for number, (at, signal) in enumerate(pairs)]  # type: ignore[arg-type]
    return fold(logged)["a"]


@given(events, st.integers(1, 5), st.integers(0, 10**6))
def test_any_split_over_replicas_any_order_and_any_repetition_give_the_same(
    logged: list[Event], replicas: int, seed: int
) -> None:
    random = Random(seed)
    logs: list[list[Event]] = [[] for _ in range(replicas)]
    for event in logged:
        for log in random.sample(logs, random.randint(1, replicas)):  # a log may have been copied to another machine
            log.append(event)
    for log in logs:
        random.shuffle(log)
    random.shuffle(logs)
    assert fold(event for log in logs for event in log) == fold(logged)


@given(events)
def test_going_on_from_a_state_is_the_same_as_folding_anew(logged: list[Event]) -> None:
    distinct = list({event.id: event for event in logged}.values())
    states: dict[str, State] = {}
    for event in sorted(distinct, key=lambda one: (one.at, one.id)):
        path = key_of(event.path)
        before = states.get(path, EMPTY)
        assert follows(before, event)
        states[path] = after(before, event)
        assert not follows(states[path], event)
    assert states == fold(distinct)


@given(events)
def test_counts_and_outcomes_stay_in_their_bounds(logged: list[Event]) -> None:
    for path, state in fold(logged).items():
        mine = [event for event in logged if key_of(event.path) == path]
        assert 1 <= state.accesses <= len(mine)
        assert 0 <= state.reinforcements <= sum(event.signal != "neutral" for event in mine)
        assert -1.0 <= state.outcome <= 1.0
        assert state.last_access is not None
        assert state.last_access <= state.last_at


@given(events, events)
def test_more_events_never_take_a_reinforcement_away(logged: list[Event], more: list[Event]) -> None:
    renamed = [Event(f"x{event.id}", event.at, event.path, event.signal) for event in more]
    before, now = fold(logged), fold([*logged, *renamed])
    for path, state in before.items():
        assert now[path].reinforcements >= state.reinforcements


@pytest.mark.parametrize(("offset", "counts"), [(60_000, 1), (COOLDOWN - 1, 1), (COOLDOWN, 2)])
def test_a_reading_within_the_cool_down_counts_as_one(offset: int, counts: int) -> None:
    state = read((1000, "neutral"), (1000 + offset, "neutral"))
    assert (state.accesses, state.reinforcements) == (counts, 0)


@given(st.integers(0, 3 * COOLDOWN))
def test_the_fold_agrees_with_the_question_whether_it_cooled_down(offset: int) -> None:
    first = read((0, "neutral"))
    assert (read((0, "neutral"), (offset, "neutral")).accesses == 2) == cooled_down(first, offset)


def test_praise_within_the_cool_down_counts() -> None:
    state = read((0, "neutral"), (1000, "positive"))
    assert (state.accesses, state.reinforcements, state.outcome, state.last_reinforced) == (1, 1, 1.0, 1000)


def test_the_first_word_sets_the_outcome_whether_it_was_read_before_or_not() -> None:
    assert read((0, "positive")).outcome == read((0, "neutral"), (10, "positive")).outcome == 1.0


def test_later_words_move_the_outcome_by_three_tenths() -> None:
    state = read((0, "positive"), (COOLDOWN, "neutral"), (2 * COOLDOWN, "negative"))
    assert (state.outcome, state.reinforcements, state.accesses) == (0.4, 2, 3)
    assert -1.0 <= read(*[(at, "negative") for at in range(30)]).outcome < -0.9


def test_the_readings_of_two_machines_add_up() -> None:
    one = [Event(f"one-{at}", at * 2 * COOLDOWN, "a") for at in range(3)]
    other = [Event(f"other-{at}", at * 2 * COOLDOWN + COOLDOWN, "a") for at in range(3)]
    assert fold([*one, *other])["a"].accesses == 6
    assert fold([*one, *other, *one])["a"].accesses == 6


def test_a_leading_slash_names_the_same_memory() -> None:
    assert set(fold([Event("1", 0, "/areas/a.html"), Event("2", COOLDOWN, "areas//a.html")])) == {"areas/a.html"}


def test_what_was_logged_under_an_old_name_counts_for_the_new_one() -> None:
    logged = [Event("1", 0, "areas/a.html"), Event("2", COOLDOWN, "archive/2026/areas/a.html", "positive")]
    states = fold(logged, {"areas/a.html": "archive/2026/areas/a.html"})
    assert list(states) == ["archive/2026/areas/a.html"]
    assert (states["archive/2026/areas/a.html"].accesses, states["archive/2026/areas/a.html"].outcome) == (2, 1.0)


@given(st.dictionaries(st.text("abcd", min_size=1, max_size=1), st.text("abcd", min_size=1, max_size=1)))
def test_moves_lead_to_one_name_and_a_circle_to_its_smallest(moves: dict[str, str]) -> None:
    for path in "abcd":
        end = moved(path, moves)
        assert moved(end, moves) == end
        if path in moves:
            assert moved(moves[path], moves) == end


def test_what_must_not_be_logged() -> None:
    assert is_event(Event("1", 10, "a", "positive"), now=10)
    assert not is_event(Event("1", 11, "a"), now=10)
    assert not is_event(Event("", 1, "a"), now=10)
    assert not is_event(Event("1", 1, "//"), now=10)
    assert not is_event(Event("1", 1, "a", "great"), now=10)  # type: ignore[arg-type]
    assert not is_event(Event("1", -1, "a"), now=10)
