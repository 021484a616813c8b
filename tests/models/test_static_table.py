from __future__ import annotations

import sys
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.app.record.finding import EMBEDDING, embedding_table, prepare_vectors
from fabula.app.record.search import SearchRequest, search
from fabula.kernel.errors import FabulaError
from fabula.models.static_table import DIMENSIONS, open_table
from fabula.models.wordpiece import WordPiece
from fabula.record.map.forget import recount_thread
from fabula.record.map.store import open_map
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession

VOCABULARY = {"[UNK]": 0, "lock": 1, "##ing": 2, "##s": 3, "cafe": 4, "-": 5, "京": 6}


@pytest.mark.parametrize(
    ("text", "ids"),
    [("Locking locks", [1, 2, 1, 3]), ("Café", [4]), ("lock-xyz", [1, 5]), ("東京", [6]), ("", []), ("x" * 200, [])],
)
def test_words_become_their_longest_known_pieces_and_unknown_words_nothing(text: str, ids: list[int]) -> None:
    assert WordPiece(VOCABULARY).ids(text, 10) == ids


@given(st.text(max_size=80), st.integers(0, 6))
def test_never_more_pieces_than_asked_for(text: str, limit: int) -> None:
    assert len(WordPiece(VOCABULARY).ids(text, limit)) <= limit


def test_the_shipped_table_puts_like_texts_closer_than_unlike_ones() -> None:
    pytest.importorskip("numpy")
    table = embedding_table()
    one, like, other = (
        table.mean(table.pieces.ids(text, 64), head=False)
        for text in ("the server takes ages to start", "slow startup of the service", "a recipe for apple pie")
    )
    assert one.shape == (DIMENSIONS,)
    assert float(one @ like) > float(one @ other) + 0.1
    assert float(one @ one) == pytest.approx(1.0, abs=1e-5)
    assert not table.mean([], head=True).any()


def test_without_numpy_the_reason_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(FabulaError, match="numpy") as caught:
        open_table(EMBEDDING)
    assert caught.value.code == "ERR_EXTRA_MISSING"


def test_a_missing_table_is_said(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    with pytest.raises(FabulaError, match="missing"):
        open_table(tmp_path)


@pytest.fixture
def paraphrased(tmp_path: Path) -> RecordHome:
    home = RecordHome(tmp_path)
    for number, text in enumerate(
        ("fix the slow startup of the gateway service", "rename the colours of the theme", "write the release notes")
    ):
        session = ClaudeSession(f"s{number}", cwd="/home/mira/code/harbor")
        session.prompt(text)
        session.reply("Understood.")
        home.save(session)
    home.scan()
    return home


QUESTION = "server boot takes ages before answering"


def test_a_question_in_other_words_finds_the_thread_that_means_it_and_calls_it_weak(paraphrased: RecordHome) -> None:
    pytest.importorskip("numpy")
    result = search(paraphrased.app, SearchRequest(QUESTION, all=True, explain=True))
    assert result.meaning == "asked"
    assert "slow startup" in result.hits[0].excerpt
    assert result.weak
    assert paraphrased.rows("select count(*) from vectors") == [(3,)]
    assert prepare_vectors(paraphrased.app) == 0


def arm_of(home: RecordHome):  # type: ignore[no-untyped-def]
    from fabula.record.search.meaning import MeaningArm

    return MeaningArm(home.map, embedding_table())


def test_vectors_of_another_table_are_made_anew(paraphrased: RecordHome) -> None:
    pytest.importorskip("numpy")
    assert prepare_vectors(paraphrased.app) == 3
    arm = arm_of(paraphrased)
    assert arm.missing(10) == []
    arm = arm_of(paraphrased)
    arm._table.tag = b"none"
    assert len(arm.missing(10)) == 3


def test_a_process_that_holds_vectors_takes_in_what_is_added_and_drops_what_is_gone(paraphrased: RecordHome) -> None:
    pytest.importorskip("numpy")
    prepare_vectors(paraphrased.app)
    arm = arm_of(paraphrased)
    before = arm.ask(QUESTION, set)
    session = ClaudeSession("s9", cwd="/home/mira/code/harbor")
    session.prompt("the server takes ages to boot before it answers")
    path = paraphrased.save(session)
    paraphrased.scan()
    (new,) = arm.missing(10)
    assert arm.ask(QUESTION, set) == before
    prepare_vectors(paraphrased.open())
    assert arm.missing(10) == []
    after = arm.ask(QUESTION, set)
    assert next(iter(after)) == new, "the closest first"
    path.unlink()
    writer = open_map(paraphrased.app.home.map)
    with writer:
        recount_thread(writer, _emptied(writer, new))
    writer.close()
    assert arm.ask(QUESTION, set) == before
    assert before == arm_of(paraphrased).ask(QUESTION, set)


def _emptied(writer: apsw.Connection, thread: int) -> int:
    writer.execute("delete from records where thread_id = ?", (thread,))
    return thread


def test_what_a_search_holds_is_what_a_new_process_reads(paraphrased: RecordHome) -> None:
    pytest.importorskip("numpy")
    arm = arm_of(paraphrased)
    assert arm.ask(QUESTION, set) == {}
    prepare_vectors(paraphrased.open())
    assert arm.ask(QUESTION, set) == arm_of(paraphrased).ask(QUESTION, set) != {}


def test_only_threads_that_are_allowed_are_scored(paraphrased: RecordHome) -> None:
    pytest.importorskip("numpy")
    prepare_vectors(paraphrased.app)
    arm = arm_of(paraphrased)
    everything = arm.ask(QUESTION, set)
    some = set(list(everything)[1:])
    assert arm.ask(QUESTION, some.intersection).keys() == some


def test_without_the_table_words_still_find_and_the_reason_is_said(
    paraphrased: RecordHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    result = search(paraphrased.app, SearchRequest(QUESTION, all=True))
    assert not result.hits
    assert "numpy" in result.meaning
    assert search(paraphrased.app, SearchRequest("colours theme", all=True)).hits
