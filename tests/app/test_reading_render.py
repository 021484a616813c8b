"""The text forms of reading results say what limits them."""

from __future__ import annotations

from typing import Any

import pytest

from fabula.app.access import Freshness
from fabula.app.joints.session_memories import LinkedMemory
from fabula.app.record.lines import SessionLine, ThreadLine
from fabula.app.record.reading import Unreadable
from fabula.app.record.resume import ResumeResult
from fabula.app.record.session import SessionResult
from fabula.app.record.thread import ThreadResult
from fabula.app.record.timeline import TimelineResult
from fabula.cli.output import Out
from fabula.cli.render import resume, session, thread, timeline
from fabula.record.composing.origins import Origin
from fabula.record.reading.catalogue import SourceRow, TouchedFile
from fabula.record.reading.timeline import Day, Totals

STALE = Freshness(fresh=False, note="3 files are still to be read")


def text_of(renderer: Any, result: Any) -> str:
    written: list[bytes] = []
    out = Out(written.append)
    renderer.render(result, out)
    out.flush()
    return b"".join(written).decode()


def session_line(**more: Any) -> SessionLine:
    fields: dict[str, Any] = {
        "id": "s1", "host": "claude", "kind": "main", "project": "harbor", "title": "", "pinned": False, "cwd": "",
        "branch": "", "first_time": None, "last_time": None, "records": 2, "threads": 1, "subagents": 0,
        "continues": "", "source_gone": False,
    }  # fmt: skip
    return SessionLine(**{**fields, **more})


def thread_line(number: int) -> ThreadLine:
    return ThreadLine(f"t{number}", "s1", "harbor", "", "", False, None, None, 5, 3, 9)  # noqa: FBT003


def thread_result(**more: Any) -> ThreadResult:
    fields: dict[str, Any] = {
        "session": "s1", "id": "", "text": "", "tokens": 0, "turns": 0, "branch_turns": 0, "sidechain_turns": 0,
        "cut_pieces": 0, "exceeds_budget": False, "origins": {}, "unreadable": (), "records": (), "threads": (),
        "fresh": STALE,
    }  # fmt: skip
    return ThreadResult(**{**fields, **more})


def test_an_answer_that_is_not_current_and_a_lost_record_are_said() -> None:
    out = text_of(thread, thread_result(text="words", unreadable=(Unreadable("u1", "damaged"),)))
    assert "3 files are still to be read" in out
    assert "not readable: u1: damaged" in out


def test_a_session_without_threads_says_so() -> None:
    assert "session s1 has no threads" in text_of(thread, thread_result())


def test_a_long_session_is_shortened_with_counts() -> None:
    result = SessionResult(
        session_line(kind="sdk", continues="s0", source_gone=True, subagents=2),
        (thread_line(1),),
        (session_line(id="a7", kind="subagent"),),
        (session_line(id="s2"),),
        tuple(TouchedFile(f"/f{n:02}", {"edit": 1}) for n in range(25)),
        (),
        (
            SourceRow("/x.jsonl", "session", -1, "original", 9, True, True),  # noqa: FBT003
            SourceRow("/y.txt", "tool-result", -1, "original", 9, True, False),  # noqa: FBT003
        ),
        (Origin("t1", "s9", "How it began"),),
        (LinkedMemory("areas/inbox/a.html", "The claim", "wrote", 0, 9, 2, archived=False),),
        STALE,
    )
    out = text_of(session, result)
    for words in (
        "composed from  thread t1 of session s9: How it began",
        "(no title)", "sdk", "continues s0", "source gone", "continued by", "s2", "a7", "3 by subagents", "and 5 more",
        "/x.jsonl (session, gone, sealed)", "1 tool-result", "areas/inbox/a.html", "The claim",
    ):  # fmt: skip
        assert words in out
    assert "/y.txt" not in out


def test_a_long_timeline_is_shortened() -> None:
    by_day = tuple(Day(f"2026-01-{n:02}", n, n, n, ("harbor",)) for n in range(30, 0, -1))
    out = text_of(timeline, TimelineResult("all", Totals(1, 1, 1), by_day, (thread_line(1),), STALE))
    assert "and 16 earlier days" in out
    assert "(no prompt)" in out
    assert "t1 · harbor" in out


def test_notes_on_resuming_are_comments_of_the_command() -> None:
    result = ResumeResult("s1", "codex", ("codex", "resume", "s1"), "", {}, "codex resume s1", ("careful",), True)  # noqa: FBT003
    assert text_of(resume, result) == "codex resume s1\n# careful\n"


def test_notes_are_said_before_the_program_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    monkeypatch.setattr("os.execvp", lambda name, _: ran.append(name))
    result = ResumeResult("s1", "codex", ("codex", "resume", "s1"), "", {}, "codex resume s1", ("careful",), False)  # noqa: FBT003
    assert text_of(resume, result).startswith("careful\n")
    assert ran == ["codex"]
