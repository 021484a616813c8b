"""The fold of logs is a function of their set: any order, any split, repeated, thinned, all at once or bit by bit."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parent))

from planes import DAY, MINUTE, HandClock, plane

from fabula.memory.standing.reinforcement import Event, fold
from fabula.memory.state.compacting import compact, set_aside_files
from fabula.memory.state.entries import SIGNAL_OF, Entry, decode, encode, entries_in, without
from fabula.memory.state.folding import folded
from fabula.memory.state.names import LAST, Names
from fabula.memory.state.plane import StatePlane
from fabula.memory.state.thinning import thinned

PATHS = ("a.html", "b.html", "c.html", "archive/a.html")
REPLICAS = ("aaaaaaaaaaaa", "bbbbbbbbbbbb")
KINDS = (
    "read",
    "read",
    "read",
    "positive",
    "negative",
    "moved",
    "wrote",
    "corrected",
    "archived",
    "corroborated",
    "new",
)


@st.composite
def logs(draw: st.DrawFn, replicas: tuple[str, ...] = REPLICAS) -> list[Entry]:
    """Draw what some machines logged; times collide often, and go back and forth."""
    entries = []
    for number in range(draw(st.integers(0, 24))):
        kind = draw(st.sampled_from(KINDS))
        entries.append(
            Entry(
                f"{draw(st.sampled_from(replicas))}-{number:016x}",
                DAY + draw(st.integers(0, 20)) * 3 * MINUTE,
                kind,
                draw(st.sampled_from(PATHS)),
                draw(st.sampled_from(PATHS)) if kind in ("moved", "corroborated") else "",
                draw(st.sampled_from(("", "s-1", "s-2"))),
            )
        )
    return entries


@given(logs(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_order_and_repetition_change_nothing(entries: list[Entry], random: object) -> None:
    shuffled = [*entries, *entries[: len(entries) // 2]]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert folded(shuffled) == folded(entries)


@given(logs())
@settings(deadline=None)
def test_what_a_log_leaves_out_changes_nothing(entries: list[Entry]) -> None:
    kept = thinned(entries)
    assert folded(kept).links == folded(entries).links
    counts = {path: (s.accesses, s.reinforcements, s.outcome) for path, s in folded(entries).states.items()}
    assert {path: (s.accesses, s.reinforcements, s.outcome) for path, s in folded(kept).states.items()} == counts
    assert thinned(kept) == kept


@given(logs(replicas=REPLICAS[:1]))
@settings(deadline=None)
def test_one_machine_counts_as_the_standing_of_memories_says(entries: list[Entry]) -> None:
    names = Names(entries)
    events = [
        Event(one.id, one.at, names.now(one.path, one.order), SIGNAL_OF[one.kind])  # type: ignore[arg-type]
        for one in entries
        if one.kind in SIGNAL_OF
    ]
    said = {path: (s.accesses, s.reinforcements, s.outcome) for path, s in fold(events).items()}
    assert {path: (s.accesses, s.reinforcements, s.outcome) for path, s in folded(entries).states.items()} == said


@given(logs())
@settings(deadline=None)
def test_every_name_leads_somewhere_and_that_is_where_it_stays(entries: list[Entry]) -> None:
    names = Names(entries)
    for path in PATHS:
        end = names.now(path, (0, ""))
        assert names.now(path, (0, "")) == end
        names.now(path, LAST)


@given(st.lists(logs(), min_size=1, max_size=4))
@settings(deadline=None, max_examples=40)
def test_bit_by_bit_gives_what_all_at_once_gives(parts: list[list[Entry]]) -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        clock = HandClock()
        with plane(folder, clock) as state:
            state.summary()
            for number, part in enumerate(parts):
                _give(folder, number, part)
                state.states(PATHS)
            assert _all_of(state) == _anew(folder, clock)
            compact(folder)
            assert _all_of(state) == _anew(folder, clock)
    finally:
        shutil.rmtree(folder)


def _give(folder: Path, number: int, entries: list[Entry]) -> None:
    """Add entries to logs: those of one machine to the local one, those of another to a tracked one."""
    for replica, place in zip(REPLICAS, ("log", f"state/{REPLICAS[1]}"), strict=True):
        file = folder / ".fabula" / place / "current.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = [encode(_renamed(one, number)) for one in entries if one.replica == replica]
        with file.open("ab") as stream:
            stream.write(b"".join(lines))
    if number % 2:
        set_aside_files(folder)


def _renamed(entry: Entry, number: int) -> Entry:
    from fabula.kernel.values import replace

    return replace(entry, id=f"{entry.id}{number}")


def _all_of(state: StatePlane) -> tuple[object, ...]:
    state.states(PATHS)
    connection = state._opened()
    states = "select path, accesses, reinforcements, outcome, last_access, last_reinforced from states order by path"
    return (
        connection.execute(states).fetchall(),
        connection.execute("select * from links order by session, path, action").fetchall(),
        state.corroborations(),
    )


def _anew(folder: Path, clock: HandClock) -> tuple[object, ...]:
    with plane(folder, clock) as state:
        state.refold()
        return _all_of(state)


@given(st.builds(Entry, st.text(min_size=1, max_size=9), st.integers(0, DAY), st.text(min_size=1, max_size=9),
                 st.sampled_from(PATHS), session=st.text(max_size=20), query=st.text(max_size=20),
                 paths=st.lists(st.sampled_from(PATHS), max_size=3).map(tuple)))  # fmt: skip
@settings(deadline=None)
def test_an_entry_is_one_line_and_comes_back_as_it_was(entry: Entry) -> None:
    line = encode(entry)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert decode(line) == entry
    assert encode(entry) == line


@given(logs())
@settings(deadline=None)
def test_what_is_forgotten_is_in_no_line_and_other_lines_keep_their_bytes(entries: list[Entry]) -> None:
    data = b"".join(map(encode, entries))
    rest = without(data, ["a.html"])
    assert b'"a.html"' not in rest
    assert list(entries_in(rest)) == [one for one in entries if "a.html" not in (one.path, one.to)]
    assert without(rest, ["/a.html"]) == rest


def test_a_question_that_holds_a_forgotten_text_is_in_no_line() -> None:
    asked = encode(Entry("a", 1, "handed", query="what is  Zebra-9 for", paths=("areas/x.html",)))
    other = encode(Entry("b", 2, "handed", query="cranes", paths=("areas/x.html",)))
    assert without(asked + other, [], "zebra-9") == other
    assert without(asked + other, []) == asked + other
