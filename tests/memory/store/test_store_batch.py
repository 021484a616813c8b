"""Many memories in one commit: all or nothing unless asked to go on, told in order; slots, near-duplicates, lines."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from storecorpus import Corpus, claim, paths_of

from fabula.kernel.errors import FabulaError
from fabula.memory.store.batch import apply
from fabula.memory.store.lines import read_lines
from fabula.memory.store.slots import claim_of, conflicts_of, last_of_each
from fabula.memory.store.values import Batch, Conflict, NewMemory, Occupied, Provenance, Similar, Summary, Text
from fabula.memory.store.writing import write

GO_ON = Batch(continue_on_error=True)
BAD = claim("Bad", article_html="<p>no mark</p>")


def test_three_are_one_commit_in_the_order_they_were_given(corpus: Corpus) -> None:
    base = corpus.head()
    asked = [claim(f"P{n}", f"The pool is {n}.", provenance=Provenance(f"s-{n}", "p")) for n in range(3)]
    found = apply(corpus.store, asked)
    assert (found.commit, found.base) == (corpus.head(), base)
    assert paths_of(found.results) == [f"areas/inbox/p{n}.html" for n in range(3)]
    assert [one.index for one in found.results] == [0, 1, 2]
    assert found.summary == Summary(total=3, written=3)
    assert corpus.message() == "memhtml(batch): 3 memories\n\nMemhtml-Session: s-0\nMemhtml-Prompt: p"
    assert len(corpus.changed()) == 3
    assert corpus.is_clean()


def test_one_names_its_title_and_none_makes_no_commit(corpus: Corpus) -> None:
    head = corpus.head()
    assert apply(corpus.store, []).commit is None
    assert corpus.head() == head
    apply(corpus.store, [claim("Only this")])
    assert corpus.message() == "memhtml(batch): Only this"


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_one_that_is_refused_stops_all(corpus: Corpus, bad: int) -> None:
    before = corpus.digest()
    asked = [claim(f"P{n}") for n in range(3)]
    asked[bad] = BAD
    found = apply(corpus.store, asked)
    assert found.commit is None
    assert corpus.digest() == before
    assert [one.skipped for one in found.results] == [n != bad for n in range(3)]
    refused = found.results[bad].error
    assert refused is not None
    assert "<mark>" in refused.message
    assert not any(one.ok for one in found.results)
    assert found.summary == Summary(total=3, failed=1, skipped=2)


def test_asked_to_go_on_the_others_are_written(corpus: Corpus) -> None:
    asked: list[NewMemory | FabulaError] = [claim("A"), BAD, FabulaError("ERR_USAGE", "no type"), claim("B")]
    found = apply(corpus.store, asked, GO_ON)
    assert [one.ok for one in found.results] == [True, False, False, True]
    assert found.summary == Summary(total=4, written=2, failed=2)
    assert len(corpus.changed()) == 2
    head = corpus.head()
    assert apply(corpus.store, [BAD, BAD], GO_ON).commit is None
    assert corpus.head() == head


def test_facts_that_are_known_to_the_store_or_the_batch_are_not_written_again(corpus: Corpus) -> None:
    known = write(corpus.store, claim("Known", "The pool is 64.")).path
    found = apply(corpus.store, [claim("A", "It is new."), claim("B", "It is new."), claim("C", "The pool is 64.")])
    assert paths_of(found.results) == ["areas/inbox/a.html", "areas/inbox/a.html", known]
    assert [one.deduped for one in found.results] == [False, True, True]
    assert found.summary == Summary(total=3, written=1, deduped=2)
    head = corpus.head()
    again = apply(corpus.store, [claim("D", "It is new.")])
    assert again.commit is None
    assert corpus.head() == head


def test_tasks_are_neither_duplicates_nor_make_one(corpus: Corpus) -> None:
    task = NewMemory("Do", "task", claim="Do it.")
    found = apply(corpus.store, [task, task, claim("Do", "Do it."), task])
    assert found.summary == Summary(total=4, written=4)
    assert len(set(paths_of(found.results))) == 4


def test_names_are_counted_on_over_the_batch_and_over_what_is_committed(corpus: Corpus) -> None:
    write(corpus.store, claim("Trio", "The first."))
    write(corpus.store, claim("Trio 3", "Another."))
    found = apply(corpus.store, [claim("Trio", f"The pool is {n}.") for n in range(3)])
    assert paths_of(found.results) == [f"areas/inbox/trio-{n}.html" for n in (2, 4, 5)]


def test_an_explicit_path_is_had_once(corpus: Corpus) -> None:
    write(corpus.store, claim("There", path="areas/x/there.html"))
    asked = [
        claim("A", path="areas/x/a.html"),
        claim("B", path="areas/x/a.html"),
        claim("C", path="areas/x/there.html"),
    ]
    found = apply(corpus.store, asked, GO_ON)
    assert [type(one.error) for one in found.results] == [type(None), Occupied, Occupied]
    assert corpus.reading("areas/x/a.html").title == "A"
    before = corpus.digest()
    assert apply(corpus.store, [claim("E", "e"), asked[2]]).summary == Summary(total=2, failed=1, skipped=1)
    assert corpus.digest() == before


def test_a_memory_is_replaced_once_in_a_batch(corpus: Corpus) -> None:
    there = write(corpus.store, claim("There", path="areas/x/there.html"))
    asked = [claim("N", f"It is {n}.", path=there.path, if_hash=there.content_hash) for n in (1, 2)]
    found = apply(corpus.store, asked, GO_ON)
    assert [one.ok for one in found.results] == [True, False]
    assert corpus.reading(there.path).content.claim == "It is 1."


def test_a_secret_fails_its_operation_alone(corpus: Corpus) -> None:
    secret = claim("Key", "It is " + "AKIA" + "Q4ZJ7RTW2MXK5NBE" + ".")
    found = apply(corpus.store, [claim("A"), secret], GO_ON)
    refused = found.results[1].error
    assert refused is not None
    assert refused.code == "ERR_SECRET"
    assert apply(corpus.store, [secret], Batch(allow_secrets=True)).summary.written == 1


def test_a_person_s_file_in_the_way_is_passed_by_and_a_failing_commit_leaves_nothing(corpus: Corpus) -> None:
    corpus.person.write("areas/inbox/a.html", "mine")
    found = apply(corpus.store, [claim("A")])
    assert paths_of(found.results) == ["areas/inbox/a-2.html"]
    corpus.person.git("checkout", "-q", "--detach")
    before = corpus.digest()
    with pytest.raises(FabulaError) as refused:
        apply(corpus.store, [claim("B"), claim("C")])
    assert refused.value.code == "ERR_GIT"
    assert corpus.digest() == before


# ── slots ───────────────────────────────────────────────────────────
CEILING = "The pool ceiling is {}."


def test_a_conflict_is_named_and_changes_nothing(corpus: Corpus) -> None:
    stored = write(corpus.store, claim("Old", CEILING.format(64))).path
    how = Batch(detect_conflicts=True)
    found = apply(corpus.store, [claim("A", CEILING.format(128)), claim("B", "No frame here at all.")], how)
    assert found.results[0].conflict == Conflict(stored, None, CEILING.format(64))
    assert found.results[1].conflict is None
    assert found.summary.written == 2
    assert corpus.known.asked == ["the pool ceiling is"]
    apply(corpus.store, [claim("C", "No frame.")], how)
    assert corpus.known.asked == ["the pool ceiling is"]


def test_a_conflict_within_the_batch_names_the_earliest_also_when_nothing_is_written(corpus: Corpus) -> None:
    asked = [claim(f"P{n}", CEILING.format(n)) for n in (1, 2, 3)]
    found = apply(corpus.store, [*asked, BAD], Batch(detect_conflicts=True))
    assert [one.conflict and one.conflict.batch_index for one in found.results] == [None, 0, 0, None]
    assert found.commit is None
    assert apply(corpus.store, asked).results[1].conflict is None


def test_the_last_wins_over_the_batch_and_over_what_is_stored_in_one_commit(corpus: Corpus) -> None:
    stored = write(corpus.store, claim("Old", CEILING.format(1))).path
    count = corpus.commits()
    asked = [claim("P2", CEILING.format(2)), claim("Other", "Nothing else."), claim("P3", CEILING.format(3))]
    found = apply(corpus.store, asked, Batch(last_wins=True))
    assert corpus.commits() == count + 1
    slot, other, loser = found.results
    assert corpus.reading(str(slot.path)).content.claim == CEILING.format(3)
    assert (loser.ok, loser.path, loser.consolidated_into) == (True, None, 0)
    assert other.superseded is None
    assert slot.superseded == f"archive/2026/{stored}"
    assert found.moves == ((stored, slot.superseded),)
    assert corpus.metas(slot.superseded)["memhtml-superseded-by"] == f"/{slot.path}"
    assert [link.href for link in corpus.reading(str(slot.path)).links] == [f"/{slot.superseded}"]
    assert corpus.metas(slot.superseded)["memhtml-valid-until"] == corpus.metas(str(slot.path))["memhtml-valid-from"]
    assert found.summary == Summary(total=3, written=2, consolidated=1)
    assert corpus.is_clean()


def test_the_last_wins_within_one_workspace_only(corpus: Corpus) -> None:
    stored = write(corpus.store, claim("Old", CEILING.format(1), workspace="a")).path
    asked = [claim("P", CEILING.format(2), workspace="b"), claim("P", CEILING.format(3))]
    found = apply(corpus.store, asked, Batch(last_wins=True))
    assert found.summary == Summary(total=2, written=2)
    assert found.moves == ()
    assert (corpus.root / stored).exists()


def test_a_slot_that_states_what_is_stored_leaves_it_alone(corpus: Corpus) -> None:
    stored = write(corpus.store, claim("Old", CEILING.format(1))).path
    found = apply(corpus.store, [claim("P", CEILING.format(2)), claim("P", CEILING.format(1))], Batch(last_wins=True))
    assert (found.results[0].existing, found.commit) == (stored, None)
    assert found.results[1].consolidated_into == 0


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 4)), max_size=12))
def test_every_slot_keeps_one_operation_and_carries_its_last(rows: list[tuple[str, int]]) -> None:
    claims = [
        claim_of(at, f"The owner of {name} is {value}.", is_task=False, path=None, workspace=None)
        for at, (name, value) in enumerate(rows)
    ]
    carried, merged = last_of_each(claims)
    for name in {name for name, _ in rows}:
        places = [at for at, (other, _) in enumerate(rows) if other == name]
        assert carried.get(places[0], places[0]) == places[-1]
        assert [merged.get(at) for at in places] == [None, *[places[0]] * (len(places) - 1)]
    assert all(found.claim != claims[at].text for at, found in conflicts_of(claims, {}).items())


# ── near-duplicates ─────────────────────────────────────────────────
class Near:
    def __init__(self, fails: bool = False) -> None:
        self.fails = fails
        self.texts: list[Text] = []

    def near(self, texts: Sequence[Text]) -> list[list[Similar]]:
        if self.fails:
            raise FabulaError("ERR_EMBEDDER", "no model")
        self.texts = list(texts)
        return [[], *[[Similar(None, at, texts[at].claim, 0.95)] for at in range(len(texts) - 1)]]


def test_near_duplicates_are_named_by_the_place_in_the_batch(corpus: Corpus) -> None:
    near = corpus.store.near = Near()
    found = apply(corpus.store, [claim("A"), BAD, claim("C")], Batch(continue_on_error=True, near_duplicates=True))
    assert found.near_duplicates_checked is True
    assert [text.title for text in near.texts] == ["A", "C"]
    assert found.results[2].near == (Similar(None, 0, "A holds.", 0.95),)
    corpus.store.near = Near(fails=True)
    assert apply(corpus.store, [claim("D")], Batch(near_duplicates=True)).near_duplicates_checked is False
    assert apply(corpus.store, [claim("E")]).near_duplicates_checked is None


# ── lines ───────────────────────────────────────────────────────────
def test_a_line_is_a_memory_and_what_it_does_not_say_is_the_call_s() -> None:
    first = {"op": "write", "title": "T", "type": "semantic", "body": "First. Second.\n\nThird.", "importance": "7"}
    second = {
        "op": "write", "title": "U", "type": "task", "article_html": "<p><mark>x</mark></p>", "status": "doing",
        "session_id": "mine", "links": [["blocks", "areas/x.html"]], "path": None,
    }  # fmt: skip
    text = "\n\n".join(json.dumps(line) for line in ({**first, "tag": "a", "tags": ["b", "a"]}, second))
    one, two = read_lines(text, Provenance("theirs", "p"))
    assert isinstance(one, NewMemory)
    assert isinstance(two, NewMemory)
    assert (one.claim, one.body, one.tags, one.importance) == ("First.", (" Second.", "Third."), ("a", "b"), 7)
    assert (two.task_status, two.provenance, two.path) == ("doing", Provenance("mine", "p"), None)
    assert two.links == (("blocks", "areas/x.html"),)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "line 2"), ("[]", "line 2"), ('"x"', "line 2"), ("1", "line 2"), ("null", "line 2"),
        ('{"op":"write","type":"semantic","body":"x"}', "title"), ('{"op":"write","title":" ","type":"x"}', "title"),
        ('{"op":"write","title":"t","body":"x"}', "type"), ('{"title":"t","type":"semantic"}', "op"),
        ('{"op":"erase","title":"t","type":"semantic"}', "erase"),
        ('{"op":"write","title":"t","type":"semantic","colour":"x"}', "colour"),
        ('{"op":"write","title":"t","type":"semantic","importance":"much"}', "importance"),
        ('{"op":"write","title":"t","type":"semantic","importance":1.5}', "importance"),
        ('{"op":"write","title":"t","type":"semantic","confidence":true}', "confidence"),
        ('{"op":"write","title":"t","type":"semantic","tags":[1]}', "tags"),
        ('{"op":"write","title":"t","type":"semantic","links":["x"]}', "links"),
        ('{"op":"write","title":5,"type":"semantic"}', "title"), ("[" * 100_000, "line 2"),
    ],
)  # fmt: skip
def test_what_is_no_batch_is_a_wrong_call_that_names_the_line(line: str, says: str) -> None:
    good = '{"op":"write","title":"t","type":"semantic","body":"x"}'
    with pytest.raises(FabulaError, match=says) as refused:
        read_lines(f"{good}\n{line}\n")
    assert refused.value.code == "ERR_USAGE"


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_batch_is_a_wrong_call(text: str) -> None:
    with pytest.raises(FabulaError, match="no operations"):
        read_lines(text)


@pytest.mark.parametrize(
    "more",
    ['"type":"epesodic","body":"x"', '"type":"arc","body":"x"', '"type":"task","body":"x","status":"later"',
     '"type":"semantic"', '"type":"semantic","body":"x","article_html":"<p><mark>y</mark></p>"'],
)  # fmt: skip
def test_a_line_that_cannot_be_meant_fails_in_its_place(more: str) -> None:
    lines = '{"op":"write","title":"a","type":"semantic","body":"x"}\n{"op":"write","title":"t",' + more + "}"
    one, two = read_lines(lines)
    assert isinstance(one, NewMemory)
    assert isinstance(two, FabulaError)


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(["Alpha", "alpha!", "Beta"]), st.integers(1, 3)), max_size=6), st.booleans())
def test_what_a_batch_says_is_what_the_tree_has(corpus: Corpus, rows: list[tuple[str, int]], bad: bool) -> None:
    asked = [claim(title, f"{title} is {value} of many.") for title, value in rows] + ([BAD] if bad else [])
    found = apply(corpus.store, asked, GO_ON)
    summary = found.summary
    assert summary.total == len(asked) == summary.written + summary.deduped + summary.failed
    for one, new in zip(found.results, asked, strict=True):
        if one.ok:
            assert corpus.reading(str(one.path)).content.claim == new.claim
            assert corpus.reading(str(one.path)).content_hash == one.content_hash
    assert (found.commit is None) == (summary.written == 0)
    assert found.commit is None or len(corpus.changed()) == summary.written
    assert corpus.is_clean()


def test_who_was_replaced_by_the_batch_itself_is_not_superseded_as_well(corpus: Corpus) -> None:
    there = write(corpus.store, claim("Pool", CEILING.format(1)))
    replacing = claim("Other", "Something else stands here now.", path=there.path, if_hash=there.content_hash)
    found = apply(corpus.store, [replacing, claim("New", CEILING.format(2))], Batch(last_wins=True))
    assert [one.ok for one in found.results] == [True, True]
    assert found.moves == ()
    assert corpus.is_clean()
