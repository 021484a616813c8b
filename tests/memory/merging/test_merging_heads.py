"""Laws of merging heads: whoever merges whom, nothing that was said is lost, and merging is done once."""

from __future__ import annotations

import sys
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from clones import memory

from fabula.memory.format.reader import Reading, read
from fabula.memory.merging.heads import merge_memories
from fabula.memory.merging.texts import merge_accounts, merge_logs

_TIMES = st.sampled_from(["2026-01-01", "2026-01-02T08:00:00Z", "2026-03-01", "2027-01-01T00:00:00Z"])
_TAGS = st.lists(st.sampled_from("abcd"), unique=True, max_size=3)
_LINKS = st.lists(
    st.tuples(st.sampled_from(["supports", "part-of"]), st.sampled_from(["/areas/x.html", "/areas/y.html"])),
    unique=True, max_size=3,
)  # fmt: skip
_METAS = st.fixed_dictionaries(
    {},
    optional={
        "confidence": st.sampled_from(["0.10", "0.90"]),
        "importance": st.sampled_from(["1", "9"]),
        "valid_until": _TIMES,
        "valid_from": _TIMES,
        "session": st.sampled_from(["s1", "s2"]),
        "needs_revision": st.sampled_from(["true", "false"]),
    },
)


@st.composite
def versions(draw: st.DrawFn, claim: str = "one fact") -> Reading:
    text = memory(claim, updated=draw(_TIMES), tags=draw(_TAGS), links=draw(_LINKS), **draw(_METAS))
    return read(text.encode())


@settings(deadline=None, max_examples=60)
@given(versions(), versions(), versions())
def test_either_side_may_merge_the_other_and_sets_are_merged_as_sets(
    base: Reading, ours: Reading, theirs: Reading
) -> None:
    one, other = merge_memories(base, ours, theirs), merge_memories(base, theirs, ours)
    assert isinstance(one, bytes)
    merged = read(one)
    assert merged.is_memory
    again = read(other) if isinstance(other, bytes) else merged
    assert (sorted(merged.metas), sorted(merged.links)) == (sorted(again.metas), sorted(again.links))
    tags = [set(each.head.tags) for each in (base, ours, theirs)]
    assert set(merged.head.tags) == (tags[1] & tags[2]) | (tags[1] - tags[0]) | (tags[2] - tags[0])
    assert merged.fact_hash == ours.fact_hash


@settings(deadline=None, max_examples=40)
@given(versions(), versions())
def test_a_side_that_changed_nothing_adds_nothing(base: Reading, theirs: Reading) -> None:
    merged = merge_memories(base, base, theirs)
    assert isinstance(merged, bytes)
    said = read(merged)
    assert (sorted(said.metas), sorted(said.links)) == (sorted(theirs.metas), sorted(theirs.links))


@given(versions(), versions("another fact"), versions("a third fact"))
@settings(deadline=None, max_examples=10)
def test_articles_that_both_sides_changed_are_never_merged(base: Reading, ours: Reading, theirs: Reading) -> None:
    assert merge_memories(base, ours, theirs) in {"article", "type"}
    assert merge_memories(None, ours, theirs) == "added_twice"


def test_what_a_person_wrote_around_the_values_is_kept_or_a_conflict() -> None:
    base = memory("one fact")
    noted = base.replace("<head>", "<head>\n<!-- mine -->").encode()
    other = base.replace("<head>", "<head>\n<!-- yours -->").encode()
    tagged = memory("one fact", tags=["t"])
    merged = merge_memories(read(base.encode()), read(noted), read(tagged.encode()))
    assert isinstance(merged, bytes)
    assert b"<!-- mine -->" in merged
    assert read(merged).head.tags == ("t",)
    assert merge_memories(read(base.encode()), read(noted), read(other)) == "head"


def test_a_hash_that_a_file_states_is_that_of_what_came_together() -> None:
    base = memory("one fact", content_hash="sha256:old")
    theirs = memory("another fact", title="one fact", content_hash="sha256:old", tags=["t"])
    merged = merge_memories(read(base.encode()), read(memory("one fact", tags=["u"]).encode()), read(theirs.encode()))
    assert isinstance(merged, bytes)
    said = read(merged)
    assert said.head.content_hash in {None, said.content_hash}


_LOG = st.lists(st.integers(0, 9).map(lambda at: b'{"at":%d}' % at), unique=True, max_size=6)


@given(_LOG, _LOG, _LOG)
def test_logs_lose_no_line_that_a_side_added(base: list[bytes], ours: list[bytes], theirs: list[bytes]) -> None:
    sides = [b"".join(line + b"\n" for line in lines) for lines in (base, base + ours, base + theirs)]
    merged = merge_logs(*sides)
    assert merged == merge_logs(sides[0], sides[2], sides[1])
    assert set(merged.splitlines()) == {*base, *ours, *theirs}
    assert len(merged.splitlines()) == len(set(merged.splitlines()))


def test_an_account_that_is_damaged_costs_its_damaged_lines_alone() -> None:
    good = b'{"path":"areas/a.html","accessCount":2}\n'
    assert merge_accounts(b"", b"nonsense\n" + good, b"[]\n") == good
