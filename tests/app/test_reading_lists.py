"""Sessions, timelines, titles and pins: scoped to this repository, current, and kept when the map is made anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.app.record.pin import PinRequest, pin, unpin
from fabula.app.record.session import SessionRequest, session
from fabula.app.record.sessions import SessionsRequest, SessionsResult, sessions
from fabula.app.record.similar import SimilarRequest, similar
from fabula.app.record.terms import TermsRequest, terms
from fabula.app.record.timeline import TimelineRequest, timeline
from fabula.app.record.title import TitleRequest, title
from fabula.kernel.errors import FabulaError
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession, Ticker

HARBOR = Path("/home/mira/code/harbor")


@pytest.fixture
def home(tmp_path: Path) -> RecordHome:
    home = RecordHome(tmp_path)
    home.app = home.open(HARBOR)
    return home


def two_projects(home: RecordHome) -> tuple[ClaudeSession, ClaudeSession]:
    clock = Ticker()
    ours = ClaudeSession("ours", clock=clock)
    ours.prompt("How is the limiter tuned?")
    ours.reply("By two numbers.")
    theirs = ClaudeSession("theirs", cwd="/home/mira/code/quay", clock=clock)
    theirs.prompt("Elsewhere")
    home.save(ours)
    home.save(theirs)
    return ours, theirs


def listed(home: RecordHome, **more: object) -> SessionsResult:
    return sessions(home.app, SessionsRequest(**more))  # type: ignore[arg-type]


def test_a_list_shows_this_repository_and_all_only_when_asked(home: RecordHome) -> None:
    ours, theirs = two_projects(home)
    result = listed(home)
    assert [line.id for line in result.sessions] == [ours.id]
    assert (result.scope, result.total) == ("harbor", 1)
    everything = listed(home, all=True)
    assert [line.id for line in everything.sessions] == [theirs.id, ours.id]
    assert everything.scope == "all"


def test_a_project_without_sessions_is_an_empty_list(home: RecordHome) -> None:
    two_projects(home)
    home.app = home.open(Path("/home/mira/nothing"))
    assert listed(home).sessions == ()


def test_what_was_just_written_is_in_the_next_list(home: RecordHome) -> None:
    ours, _ = two_projects(home)
    listed(home)
    later = ClaudeSession("later", clock=ours.clock)
    later.prompt("A minute ago")
    home.save(later)
    assert [line.title for line in listed(home, limit=1).sessions] == ["A minute ago"]


def test_pages_and_windows_are_counted(home: RecordHome) -> None:
    two_projects(home)
    page = listed(home, all=True, limit=1, offset=1)
    assert (len(page.sessions), page.total) == (1, 2)
    moment = page.sessions[0].first_time
    assert moment is not None
    assert listed(home, all=True, until=moment).total == 0
    assert listed(home, all=True, host="codex").total == 0


def test_a_title_is_a_persons_else_the_hosts_else_the_first_prompt(home: RecordHome) -> None:
    ours, _ = two_projects(home)
    assert listed(home).sessions[0].title == "How is the limiter tuned?"
    ours.title("Tuning")
    home.save(ours)
    assert listed(home).sessions[0].title == "Tuning"
    given = title(home.app, TitleRequest(ours.id[:8], "  My   own words "))
    assert (given.kind, given.title) == ("session", "My own words")
    assert listed(home).sessions[0].title == "My own words"
    title(home.app, TitleRequest(ours.id, ""))
    assert listed(home).sessions[0].title == "Tuning"


def test_pins_and_titles_outlive_the_map(home: RecordHome) -> None:
    ours, theirs = two_projects(home)
    assert pin(home.app, PinRequest(ours.id)).changed
    assert not pin(home.app, PinRequest(ours.id)).changed
    title(home.app, TitleRequest(ours.prompt_id, "The thread"))
    home.app.record.close()
    home.app.home.map.unlink()
    home.app = home.open(HARBOR)
    everything = listed(home, all=True)
    assert [(line.id, line.pinned) for line in everything.sessions] == [(ours.id, True), (theirs.id, False)]
    assert [line.title for line in session(home.app, SessionRequest(ours.id)).threads] == ["The thread"]
    assert unpin(home.app, PinRequest(ours.id)).changed
    assert not unpin(home.app, PinRequest(ours.id)).changed
    assert not listed(home).sessions[0].pinned


def test_a_pin_of_nothing_is_an_error(home: RecordHome) -> None:
    two_projects(home)
    with pytest.raises(FabulaError) as caught:
        pin(home.app, PinRequest("nothing-like-this"))
    assert caught.value.code == "ERR_NOT_FOUND"


def test_a_session_tells_of_its_threads_subagents_files_and_usage(home: RecordHome) -> None:
    ours = ClaudeSession("whole")
    ours.prompt("Write it down")
    (call,) = ours.calls(("Task", {"description": "look", "prompt": "look"}))
    helper = ClaudeSession("whole", clock=ours.clock, agent="a7", parent_session=ours.id)
    helper.task("look")
    helper.reply("seen")
    ours.result(call, "done", detail={"agentId": "a7", "status": "completed"})
    ours.tool("Write", {"file_path": "/home/mira/code/harbor/a.md", "content": "x"}, "written")
    home.save(ours)
    home.save(helper)
    result = session(home.app, SessionRequest(ours.id))
    assert [line.opening for line in result.threads] == ["Write it down"]
    assert [line.id for line in result.subagents] == ["a7"]
    assert "/home/mira/code/harbor/a.md" in [file.path for file in result.files]
    assert sum(use.responses for use in result.usage) == 3
    assert [(source.kind, source.generation, source.gone) for source in result.sources] == [("session", -1, False)]


def test_a_fork_and_its_original_are_one_conversation_that_goes_on(home: RecordHome) -> None:
    ours = ClaudeSession("whole")
    ours.prompt("Write it down")
    ours.reply("Written.")
    forked = ours.fork("fork")
    forked.prompt("Go on here")
    home.save(ours)
    home.save(forked)
    both = [session(home.app, SessionRequest(each.id)) for each in (ours, forked)]
    assert sorted(line.opening for each in both for line in each.threads) == ["Go on here", "Write it down"]
    first, second = sorted(both, key=lambda each: each.session.continues)
    assert second.session.continues == first.session.id
    assert [line.id for line in first.continued_by] == [second.session.id]


def test_a_session_whose_file_is_gone_is_marked_and_still_told(home: RecordHome) -> None:
    ours, _ = two_projects(home)
    listed(home)
    (home.claude / ours.relative_path()).unlink()
    home.app = home.open(HARBOR)
    line = listed(home).sessions[0]
    assert line.source_gone
    assert line.title == "How is the limiter tuned?"


def test_a_timeline_counts_days_and_lists_the_newest_threads(home: RecordHome) -> None:
    ours, _ = two_projects(home)
    result = timeline(home.app, TimelineRequest())
    assert [line.id for line in result.threads] == [ours.prompt_id]
    assert [(day.date, day.threads, day.top_projects) for day in result.by_day] == [("2026-03-02", 1, ("harbor",))]
    assert (result.totals.threads, result.scope) == (1, "harbor")
    assert timeline(home.app, TimelineRequest(all=True, limit=1)).totals.threads == 2


def test_openings_hide_secrets_and_private_text(home: RecordHome) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    ours = ClaudeSession("secret")
    ours.prompt(f"use {token} and <private>my street</private> " + "word " * 100)
    home.save(ours)
    opening = timeline(home.app, TimelineRequest()).threads[0].opening
    assert token not in opening
    assert "my street" not in opening
    assert len(opening) <= 160


def test_the_opening_of_a_prompt_that_begins_with_a_long_key_hides_it(home: RecordHome) -> None:
    lines = "\n".join(
        f"{number:02d}" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6A7b8C9d0" for number in range(30)
    )
    ours = ClaudeSession("key")
    ours.prompt(f"-----BEGIN RSA PRIVATE KEY-----\n{lines}\n-----END RSA PRIVATE KEY-----\nkeep this")
    home.save(ours)
    opening = timeline(home.app, TimelineRequest()).threads[0].opening
    assert opening == "[redacted: private-key] keep this"


def test_terms_hide_secrets(home: RecordHome) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    ours = ClaudeSession("terms")
    ours.prompt(f"the token is `{token}`")
    home.save(ours)
    found = {facet.term for facet in terms(home.app, TermsRequest("target")).terms}
    assert found == {"[redacted: github-pat]"}
    assert similar(home.app, SimilarRequest(ours.prompt_id)).terms[0] == "[redacted: github-pat]"
