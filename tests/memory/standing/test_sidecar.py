"""What another tool counted is taken in once however often it is read, and written in its form."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from fabula.memory.standing.reinforcement import Baseline, Event, State, after, cooled_down, fold
from fabula.memory.standing.sidecar import read_sidecar, write_sidecar

HOUR = 3_600_000
times = st.none() | st.integers(0, 2_000_000_000_000)
baselines = st.builds(
    Baseline, st.sampled_from(["a.html", "/a.html", "b.html"]), st.integers(0, 9), st.integers(0, 9), st.floats(-1, 1),
    times, times, st.integers(0, 99),
)  # fmt: skip
LINE = (
    '{"path":"areas/ä.html","accessCount":3,"reinforcementCount":1,"outcomeScore":0.4,'
    '"lastAccessedAt":"2026-03-01T10:00:00.000Z","lastReinforcedAt":null,"updatedAt":"2026-03-01T10:00:00.000Z"}\n'
)


def test_a_line_is_read_and_written_alike() -> None:
    account = read_sidecar(LINE)
    assert account.skipped == 0
    assert write_sidecar(fold([], baselines=account.baselines)) == LINE


def test_lines_that_are_no_account_are_counted_and_wrong_values_are_none() -> None:
    text = '\n{"path":""}\nnot json\n[]\n{"path":7}\n' + "[" * 100_000 + "\n"
    text += (
        '{"path":"a","accessCount":-4,"reinforcementCount":"2","outcomeScore":9,"lastAccessedAt":"","updatedAt":[]}\n'
    )
    account = read_sidecar(text)
    assert account.skipped == 5
    assert account.baselines == [Baseline("a", outcome=1.0)]


def test_taking_it_in_twice_keeps_unknown_times_unknown_and_readings_go_on() -> None:
    once = read_sidecar('{"path":"a","accessCount":2,"lastAccessedAt":null,"lastReinforcedAt":null}').baselines
    state = fold([], baselines=once)["a"]
    assert fold([], baselines=[*once, *once])["a"] == state
    assert (state.accesses, state.last_access) == (2, None)
    assert cooled_down(state, 0)
    assert fold([Event("1", HOUR, "a")], baselines=once)["a"].accesses == 3


def test_an_older_copy_does_not_overwrite_a_newer_outcome() -> None:
    old, new = Baseline("a", 2, 1, -1.0, at=5), Baseline("a", 3, 2, 0.4, at=9)
    assert fold([], baselines=[new, old])["a"] == State(3, 2, 0.4)


@given(st.lists(baselines, max_size=6), st.randoms(use_true_random=False))
def test_copies_of_an_account_are_one_account_in_any_order(found: list[Baseline], random: object) -> None:
    mixed = [*found, *found]
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert fold([], baselines=mixed) == fold([], baselines=found)


@given(st.lists(baselines, max_size=4), st.lists(st.integers(0, 50), max_size=6))
def test_a_written_account_reads_back_as_the_same(found: list[Baseline], hours: list[int]) -> None:
    events = [Event(f"{at}", at * HOUR, "a.html") for at in hours]
    text = write_sidecar(fold(events, baselines=found))
    again = write_sidecar(fold([], baselines=read_sidecar(text).baselines))
    rows, read_back = ([json.loads(line) for line in one.splitlines()] for one in (text, again))
    assert [{**row, "updatedAt": ""} for row in rows] == [{**row, "updatedAt": ""} for row in read_back]
    assert [json.loads(line)["path"] for line in text.splitlines()] == sorted(fold(events, baselines=found))
    assert "-0.0," not in text


def test_minus_nothing_is_nothing_and_no_states_are_an_empty_text() -> None:
    assert write_sidecar({}) == ""
    assert '"outcomeScore":0,' in write_sidecar({"a": State(outcome=-0.00001)})
    assert '"outcomeScore":0.3333,' in write_sidecar({"a": State(outcome=1 / 3)})
    assert '"outcomeScore":1,' in write_sidecar({"a": after(State(), Event("1", 0, "a", "positive"))})
