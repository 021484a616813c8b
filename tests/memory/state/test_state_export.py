"""Exporting what was logged: a commit of its own, logs that only grow, machines whose counts add up."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from planes import ARCHIVED, HOUR, MINUTE, A, B, HandClock, clone, corpus, plane

from fabula.kernel.errors import FabulaError
from fabula.memory.state.compacting import compact, is_crowded
from fabula.memory.state.exporting import export
from fabula.memory.state.plane import StatePlane
from fabula.memory.state.values import Exported
from fabula.storage.appending import CURRENT, append_lines, log_files, set_aside

AT = "1772000000 +0000"


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


def exported(person: object, state: StatePlane, session: str = "") -> Exported:
    with person.repo() as repo:  # type: ignore[attr-defined]
        return export(state, repo, AT, session)


def test_an_export_is_a_commit_of_its_own_that_changes_no_count(tmp_path: Path, clock: HandClock) -> None:
    person = corpus(tmp_path)
    (person.root / A).write_text("a person's change\n")
    with plane(person.root, clock) as state:
        for _ in range(3):
            state.read([A, B], "s")
            clock.pass_by(MINUTE)
        state.reinforce([A], "positive", "s")
        pack = state.handed_out([A], reader="recall", query="what of tides")
        before = state.states([A, B]), state.links_of("s")
        done = exported(person, state, "s")
        replica = state.logbook.replica()
        assert (done.entries, done.dropped) == (3, 4)
        assert done.files == (f".fabula/state/{replica}/202602.jsonl",)
        assert person.git("show", "--format=%s", "--name-only", "HEAD").split("\n\n") == [
            f"memhtml(state): 3 entries of {replica}",
            f".fabula/state/{replica}/202602.jsonl",
        ]
        assert person.git("log", "-1", "--format=%(trailers:key=Memhtml-Session,valueonly)") == "s"
        assert person.status() == [f" M {A}"]
        assert (state.states([A, B]), state.links_of("s")) == before
        assert [one.id for one in state.packs_with(A)] == [pack]
        assert b"tides" not in (person.root / done.files[0]).read_bytes()
        assert state.summary().unexported == 0
    with plane(person.root, clock) as state:
        state.refold()
        assert (state.states([A, B]), state.links_of("s")) == before


def test_exporting_again_writes_nothing_and_later_entries_are_added_behind(tmp_path: Path, clock: HandClock) -> None:
    person = corpus(tmp_path)
    with plane(person.root, clock) as state:
        assert exported(person, state).commit is None
        state.read([A])
        first = exported(person, state)
        log = person.root / first.files[0]
        data = log.read_bytes()
        head = person.git("rev-parse", "HEAD")
        assert exported(person, state).commit is None
        clock.pass_by(MINUTE)
        state.read([A])  # adds nothing
        assert exported(person, state).commit is None
        assert person.git("rev-parse", "HEAD") == head
        clock.pass_by(HOUR)
        state.read([A])
        assert exported(person, state).entries == 1
        assert log.read_bytes().startswith(data)
        assert log.read_bytes().count(b"\n") == 2
        clock.pass_by(40 * 24 * HOUR)
        state.read([A])
        assert exported(person, state).files[0].endswith("202604.jsonl")


def test_two_machines_counts_add_up_without_a_conflict(tmp_path: Path, clock: HandClock) -> None:
    here = corpus(tmp_path / "here")
    there = clone(here, tmp_path / "there")
    with plane(here.root, clock) as mine, plane(there.root, clock) as theirs:
        for number in range(5):
            mine.read([A], f"here-{number}")
            clock.pass_by(HOUR)
            theirs.read([A], f"there-{number}")
            clock.pass_by(HOUR)
        mine.reinforce([A], "positive")
        clock.pass_by(HOUR)
        theirs.reinforce([A], "negative")
        exported(here, mine)
        exported(there, theirs)
        for one, other in ((here, there), (there, here)):
            one.git("pull", "--quiet", "--no-rebase", "--no-edit", str(other.root), "main")
        states = [state.states([A])[A] for state in (mine, theirs)]
        assert states[0] == states[1]
        assert (states[0].accesses, states[0].reinforcements) == (11 + 1, 2)
        assert states[0].outcome == pytest.approx(0.4)
        assert len(mine.sessions_of(A)) == 10
        assert mine.summary().replicas == 2
        assert here.status() == there.status() == []


def test_a_move_on_one_machine_moves_what_another_counted(tmp_path: Path, clock: HandClock) -> None:
    here = corpus(tmp_path / "here")
    there = clone(here, tmp_path / "there")
    with plane(here.root, clock) as mine, plane(there.root, clock) as theirs:
        mine.read([A])
        clock.pass_by(HOUR)
        mine.moved([(A, ARCHIVED)])
        clock.pass_by(HOUR)
        theirs.read([A])  # it was not pulled yet
        exported(there, theirs)
        here.git("pull", "--quiet", "--no-rebase", "--no-edit", str(there.root), "main")
        assert {path: one.accesses for path, one in mine.states([A, ARCHIVED]).items()} == {ARCHIVED: 2}


def test_a_log_that_another_machine_made_shorter_is_read_anew(tmp_path: Path, clock: HandClock) -> None:
    other = tmp_path / ".fabula/state/0123456789ab/202602.jsonl"
    other.parent.mkdir(parents=True)
    lines = [f'{{"at":{clock.now + n * HOUR},"id":"0123456789ab-{n}","kind":"read","path":"{A}"}}\n' for n in range(3)]
    other.write_text("".join(lines))
    with plane(tmp_path, clock) as state:
        assert state.states([A])[A].accesses == 3
        other.write_text("".join(lines[1:]))
        assert state.states([A])[A].accesses == 2
        other.unlink()
        assert state.states([A]) == {}


def test_a_tracked_log_that_a_person_changed_is_not_written_over(tmp_path: Path, clock: HandClock) -> None:
    person = corpus(tmp_path)
    with plane(person.root, clock) as state:
        state.read([A])
        done = exported(person, state)
        (person.root / done.files[0]).write_text("mine\n")
        clock.pass_by(HOUR)
        state.read([A])
        with pytest.raises(FabulaError) as error:
            exported(person, state)
        assert error.value.code == "ERR_DIRTY"
        person.git("checkout", "--quiet", "--", done.files[0])
        assert state.states([A])[A].accesses == 2
        assert exported(person, state).entries == 1


def test_a_link_in_place_of_a_log_leads_nowhere(tmp_path: Path, clock: HandClock) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "202602.jsonl").write_text(f'{{"at":1,"id":"x-1","kind":"read","path":"{A}"}}\n')
    folder = tmp_path / "corpus/.fabula/state"
    folder.mkdir(parents=True)
    (folder / "0123456789ab").symlink_to(outside)
    with plane(tmp_path / "corpus", clock) as state:
        assert state.states([A]) == {}


def test_a_local_log_stays_small_and_loses_no_count(tmp_path: Path, clock: HandClock) -> None:
    with plane(tmp_path, clock) as state:
        for number in range(40):
            state.read([A, B], "s")
            state.handed_out([A], reader="recall", query=f"question {number}")
            clock.pass_by(MINUTE)
            set_aside(tmp_path / ".fabula/log")
        assert is_crowded(tmp_path)
        assert len(log_files(tmp_path / ".fabula/log")) == 40
        assert compact(tmp_path) == 80 - 6
        assert len(log_files(tmp_path / ".fabula/log")) == 1
        before = state.states([A, B]), state.links_of("s")
        assert [one.accesses for one in before[0].values()] == [3, 3]  # after 0, 15 and 30 minutes
        state.refold()
        assert (state.states([A, B]), state.links_of("s")) == before
        assert len(state.packs_with(A)) == 40


def test_asking_compacts_a_crowded_log(tmp_path: Path, clock: HandClock) -> None:
    with plane(tmp_path, clock) as state:
        for _ in range(18):
            state.read([A])
            set_aside(tmp_path / ".fabula/log")
        state.states([A])
        assert len(log_files(tmp_path / ".fabula/log")) == 1


def test_forgetting_takes_every_line_about_a_memory_out_of_the_local_log(tmp_path: Path, clock: HandClock) -> None:
    with plane(tmp_path, clock) as state:
        state.read([A, B], "s")
        state.handed_out([A, B], reader="recall")
        assert state.forget([A]) == 2
        assert A.encode() not in b"".join(path.read_bytes() for path in log_files(tmp_path / ".fabula/log"))
        assert state.states([A, B]).keys() == {B}
        assert [link.path for link in state.links_of("s")] == [B]
        assert state.packs_with(A) == []


WRITER = """
import sys
from pathlib import Path
from fabula.kernel.clock import SystemClock
from fabula.memory.state.plane import StatePlane
plane = StatePlane(Path(sys.argv[1]), SystemClock())
for number in range(200):
    assert plane.acted("tested", ["areas/inbox/a.html"], f"{sys.argv[2]}-{number}-" + "x" * 700)
"""


def test_many_processes_log_at_once_and_no_line_is_lost_or_torn(tmp_path: Path, clock: HandClock) -> None:
    jobs = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(number)]) for number in range(6)]
    while any(job.poll() is None for job in jobs):
        set_aside(tmp_path / ".fabula/log")
    assert [job.returncode for job in jobs] == [0] * 6
    with plane(tmp_path, clock) as state:
        assert len(state.sessions_of(A)) == 1200
        data = b"".join(path.read_bytes() for path in log_files(tmp_path / ".fabula/log"))
        assert len([line for line in data.split(b"\n") if line]) == 1200  # a write that is seen half done is closed
        assert len({one.decode()[:60] for one in data.split(b'"id":"')[1:]}) == 1200


def test_a_full_file_is_set_aside_by_whoever_fills_it(tmp_path: Path) -> None:
    for _ in range(3):
        append_lines(tmp_path, b"x" * 200_000 + b"\n")
    names = [path.name for path in log_files(tmp_path)]
    assert names == ["000001.jsonl", CURRENT]
    append_lines(tmp_path, b"y" * 200_000 + b"\n")
    assert [path.name for path in log_files(tmp_path)] == ["000001.jsonl", "000002.jsonl"]
