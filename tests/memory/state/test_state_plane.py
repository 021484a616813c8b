"""What a state plane comes to: readings, reinforcements, moves, links, packs."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from planes import ARCHIVED, DAY, HOUR, MINUTE, SECOND, A, B, HandClock, corpus, plane

from fabula.kernel.errors import FabulaError


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


def test_a_second_reading_counts_from_900_seconds_on(tmp_path: Path, clock: HandClock) -> None:
    with plane(tmp_path, clock) as state:
        for step in (0, 60 * SECOND, 839 * SECOND):  # 0, 60, 899 s
            clock.pass_by(step)
            state.read([A])
        assert state.states([A])[A].accesses == 1
        clock.pass_by(SECOND)
        state.read([A])
        one = state.states([A])[A]
        assert (one.accesses, one.reinforcements, one.last_access) == (2, 0, DAY + 900 * SECOND)


def test_praise_within_the_cool_down_counts(tmp_path: Path, clock: HandClock) -> None:
    with plane(tmp_path, clock) as state:
        state.read([A])
        clock.pass_by(SECOND)
        (done,) = state.reinforce([A, "/" + A], "positive")
        assert (done.counted, done.state.reinforcements, done.state.outcome, done.state.accesses) == (True, 1, 1.0, 1)
        clock.pass_by(HOUR)
        state.read([A])
        assert state.states([A])[A].outcome == 1.0
        (done,) = state.reinforce([A], "negative")
        assert done.state.outcome == pytest.approx(0.4)
        for _ in range(30):
            (done,) = state.reinforce([A], "negative")
        assert -1 <= done.state.outcome < -0.9


def test_a_neutral_word_is_a_reading_and_an_unknown_one_is_refused(tmp_path: Path, clock: HandClock) -> None:
    with plane(tmp_path, clock) as state:
        assert [one.counted for one in state.reinforce([A, B], "neutral")] == [True, True]
        assert [one.counted for one in state.reinforce([A], "neutral")] == [False]
        assert state.reinforce([], "positive") == []
        with pytest.raises(FabulaError) as error:
            state.reinforce([A], "lovely")
        assert error.value.code == "ERR_USAGE"


def test_what_was_counted_follows_a_memory_into_the_archive_and_back(tmp_path: Path, clock: HandClock) -> None:
    with plane(tmp_path, clock) as state:
        state.read([A], "s-1")
        clock.pass_by(HOUR)
        state.moved([(A, ARCHIVED)], "s-2")
        assert state.states([A, ARCHIVED]).keys() == {ARCHIVED}
        assert [link.path for link in state.links_of("s-1")] == [ARCHIVED]
        clock.pass_by(HOUR)
        state.moved([(ARCHIVED, A)])
        assert state.states([A, ARCHIVED]).keys() == {A}
        assert state.where(ARCHIVED) == A


def test_a_correction_at_the_same_path_begins_at_nothing(tmp_path: Path, clock: HandClock) -> None:
    with plane(tmp_path, clock) as state:
        state.read([A], "s-1")
        clock.pass_by(HOUR)
        state.corrected(A, "s-2", [(A, ARCHIVED)])
        assert state.states([A, ARCHIVED]).keys() == {ARCHIVED}
        clock.pass_by(HOUR)
        state.read([A], "s-3")
        found = state.states([A, ARCHIVED])
        assert (found[A].accesses, found[ARCHIVED].accesses) == (1, 1)
        assert [(link.session, link.action) for link in state.sessions_of(A)] == [("s-2", "corrected"), ("s-3", "read")]
        assert [(link.session, link.action) for link in state.sessions_of(ARCHIVED)] == [("s-1", "read")]


def test_a_reading_that_comes_late_counts_for_the_memory_that_had_the_name(tmp_path: Path, clock: HandClock) -> None:
    with plane(tmp_path, clock) as state:
        state.moved([(A, ARCHIVED)])
        clock.pass_by(HOUR)
        state.read([A])
        assert state.states([A, ARCHIVED]).keys() == {ARCHIVED}


def test_a_move_that_two_machines_saw_is_one_move(tmp_path: Path, clock: HandClock) -> None:
    with plane(tmp_path, clock) as state:
        state.read([A])
        for _ in range(2):
            clock.pass_by(HOUR)
            state.moved([(A, B)])
        clock.pass_by(HOUR)
        state.moved([(B, "areas/inbox/c.html")])
        assert state.states([A, B, "areas/inbox/c.html"]).keys() == {"areas/inbox/c.html"}


def test_each_action_with_a_session_is_a_link(tmp_path: Path, clock: HandClock) -> None:
    with plane(tmp_path, clock) as state:
        state.wrote([A], "s")
        for _ in range(3):
            clock.pass_by(HOUR)
            state.read([A], "s")
        state.reinforce([A], "positive", "s")
        state.read([B])
        links = state.links_of("s")
        assert [(link.action, link.times) for link in links] == [("wrote", 1), ("read", 3), ("positive", 1)]
        assert (links[1].first, links[1].last) == (DAY + HOUR, DAY + 3 * HOUR)
        assert state.links_of("nobody") == []


def test_packs_say_which_memories_were_handed_out_also_under_the_name_of_today(
    tmp_path: Path, clock: HandClock
) -> None:
    with plane(tmp_path, clock) as state:
        first = state.handed_out([A, B], reader="recall", session="s", query="what\nof tides")
        clock.pass_by(MINUTE)
        second = state.handed_out([B], reader="recall")
        state.moved([(A, ARCHIVED)])
        assert [pack.id for pack in state.packs_with(B)] == [second, first]
        (pack,) = state.packs_with(ARCHIVED)
        assert (pack.query, pack.session, pack.paths) == ("what of tides", "s", (A, B))
        assert state.packs_with(A) == []


def test_a_torn_last_line_is_no_entry_and_the_next_one_stands_whole(tmp_path: Path, clock: HandClock) -> None:
    with plane(tmp_path, clock) as state:
        state.read([A])
        log = tmp_path / ".fabula/log/current.jsonl"
        with log.open("ab") as stream:
            stream.write(b'{"at":1,"id":"x","ki')
        assert state.states([A])[A].accesses == 1
        clock.pass_by(HOUR)
        state.read([A])
        assert state.states([A])[A].accesses == 2


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b"[]",
        b'{"id":"x","kind":"read","path":"a","at":-1}',
        b'{"id":"","kind":"read","path":"a","at":1}',
        b'{"id":"x","kind":"read","path":7,"at":1}',
        b'{"id":"x","kind":"read","path":"' + b"a" * 2000 + b'","at":1}',
        b'{"id":"x","kind":"read","path":"a","at":true}',
        b"[" * 100_000,
        b"\xff\xfe",
        b'{"id":"x","at":1,"kind":["a"]}',
    ],
)
def test_a_line_that_is_no_entry_keeps_no_other_from_counting(tmp_path: Path, clock: HandClock, line: bytes) -> None:
    with plane(tmp_path, clock) as state:
        state.read([A])
        log = tmp_path / ".fabula/log/current.jsonl"
        log.write_bytes(line + b"\n" + log.read_bytes())
        assert state.states([A])[A].accesses == 1
        assert state.summary().entries == 1


def test_a_copied_folder_has_a_name_of_its_own(tmp_path: Path, clock: HandClock) -> None:
    with plane(tmp_path / "one", clock) as first:
        first.read([A])
        shutil.copytree(tmp_path / "one", tmp_path / "two")
        with plane(tmp_path / "two", clock) as second:
            clock.pass_by(HOUR)
            second.read([A])
            assert second.logbook.replica() != first.logbook.replica()
            assert second.states([A])[A].accesses == 2
        assert first.logbook.replica() == plane(tmp_path / "one", clock).logbook.replica()


def test_a_damaged_or_foreign_database_is_made_anew_from_the_logs(tmp_path: Path, clock: HandClock) -> None:
    with plane(tmp_path, clock) as state:
        state.read([A])
        state.states([A])
    for rubbish in (b"no database" * 1000, b""):
        (tmp_path / ".fabula/state.db").write_bytes(rubbish)
        for ending in ("-wal", "-shm"):
            (tmp_path / f".fabula/state.db{ending}").unlink(missing_ok=True)
        with plane(tmp_path, clock) as state:
            assert state.states([A])[A].accesses == 1


def test_a_corpus_that_cannot_be_written_answers_from_memory_and_says_that_it_counts_nothing(
    tmp_path: Path, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Permissions do not stop a superuser; a read-only disk does."""
    with plane(tmp_path, clock) as state:
        state.read([A], "s")
        state.handed_out([A], reader="recall")
    before = sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*"))

    def refuse(path: object, flags: int, mode: int = 0o777, **more: object) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return opened(path, flags, mode, **more)  # type: ignore[arg-type]

    opened = os.open
    monkeypatch.setattr(os, "open", refuse)
    with plane(tmp_path, clock) as state:
        clock.pass_by(HOUR)
        assert state.read([A]) is False
        assert state.states([A])[A].accesses == 1
        assert [link.session for link in state.sessions_of(A)] == ["s"]
        assert len(state.packs_with(A)) == 1
        assert state.handed_out([A], reader="recall") == ""
        assert "not counted" in state.notices[0]
        assert not state.attach(None)  # type: ignore[arg-type]
        with pytest.raises(FabulaError) as caught:
            state.reinforce([A], "positive")
        assert caught.value.code == "ERR_READ_ONLY"
    assert sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*")) == before


def test_a_log_that_cannot_be_appended_to_is_said_and_keeps_no_reading_from_an_answer(
    tmp_path: Path, clock: HandClock
) -> None:
    with plane(tmp_path, clock) as state:
        (tmp_path / ".fabula").write_text("a file where the folder should be")
        assert state.read([A]) is False
        assert state.handed_out([A], reader="recall") == ""
        assert state.states([A]) == {}
        assert len(state.notices) == 1
        with pytest.raises(FabulaError) as caught:
            state.reinforce([A], "positive")  # word that is not kept is no notice: nothing was done
        assert caught.value.code == "ERR_PATH"


def test_no_reading_changes_what_git_sees(tmp_path: Path, clock: HandClock) -> None:
    person = corpus(tmp_path)
    head = person.git("rev-parse", "HEAD")
    with plane(person.root, clock) as state:
        state.read([A, B], "s")
        state.reinforce([A], "positive", "s")
        state.handed_out([A], reader="recall", session="s")
        state.moved([(B, "areas/inbox/c.html")])
        assert state.states([A])[A].reinforcements == 1
        assert person.status() == []
    assert person.git("rev-parse", "HEAD") == head


def test_what_memhtml_counted_is_the_beginning_and_follows_moves(tmp_path: Path, clock: HandClock) -> None:
    sidecar = tmp_path / ".memhtml/state/access.jsonl"
    sidecar.parent.mkdir(parents=True)
    row = {"path": A, "accessCount": 7, "reinforcementCount": 2, "outcomeScore": 0.5, "lastAccessedAt": None}
    sidecar.write_text("broken\n" + json.dumps(row) + "\n")
    with plane(tmp_path, clock) as state:
        assert state.states([A])[A].accesses == 7
        state.read([A])
        assert state.states([A])[A].accesses == 8
        state.moved([(A, ARCHIVED)])
        assert state.states([A, ARCHIVED]).keys() == {ARCHIVED}
        sidecar.write_text(json.dumps(row | {"accessCount": 9}) + "\n")
        assert state.states([ARCHIVED])[ARCHIVED].accesses == 10
        sidecar.unlink()
        assert state.states([ARCHIVED])[ARCHIVED].accesses == 1


def test_guesses_are_counted_over_moves_and_names_apart(tmp_path: Path, clock: HandClock) -> None:
    with plane(tmp_path, clock) as state:
        for verdict in ("seen", "seen", "confirmed"):
            clock.pass_by(HOUR)
            state.corroborate(A, "supports", B, verdict)
        state.corroborate_entity("person", "Bob", "Robert Stone")
        state.moved([(A, ARCHIVED)])
        edge, name = state.corroborations()
        assert (edge.source, edge.target, edge.detections, edge.confirmed, edge.promoted) == (
            ARCHIVED,
            B,
            2,
            True,
            False,
        )
        assert (name.source, name.target, name.detections) == ("person:Bob", "Robert Stone", 1)
        assert state.states([A, ARCHIVED, B]) == {}


def test_the_tables_can_be_asked_beside_those_of_another_database(tmp_path: Path, clock: HandClock) -> None:
    import apsw

    connection = apsw.Connection(str(tmp_path / "index.db"))
    with plane(tmp_path / "corpus", clock) as state:
        state.read([A])
        assert state.attach(connection)
        assert state.attach(connection)
        rows = connection.execute("select path, accesses from state.states").fetchall()
        assert rows == [(A, 1)]
    connection.close()
