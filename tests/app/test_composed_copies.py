"""Copies in composed sessions beside their originals: each is told once, and nothing goes out that was hidden."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from composing_builders import composed, lines, threads, work

from fabula.app.record.search import SearchRequest, search
from fabula.app.record.session import SessionRequest, session
from fabula.app.record.timeline import TimelineRequest, timeline
from fabula.testing.record_home import RecordHome
from fabula.testing.rollouts import CodexRollout
from fabula.testing.transcripts import ClaudeSession


@pytest.fixture
def home(tmp_path: Path) -> RecordHome:
    return RecordHome(tmp_path)


def found(home: RecordHome, query: str, **more: Any) -> tuple[list[str], int]:
    result = search(home.app, SearchRequest(query, all=True, **more))
    return [hit.thread for hit in result.hits], result.number


@pytest.mark.parametrize("more", [{}, {"sort": "recent"}, {"by": "record"}], ids=["relevance", "recent", "record"])
def test_a_copy_is_not_found_beside_its_original(home: RecordHome, more: dict[str, Any]) -> None:
    source = work()
    home.save(source)
    home.scan()
    before = found(home, "pivot fail", **more)
    first = composed(home, source.id, apply=True, cwd=home.folder)
    composed(home, first.session, threads(source)[0][:8], apply=True, cwd=home.folder)  # a copy of a copy
    assert found(home, "pivot fail", **more)[0] == before[0]
    home.app.record.scan(rebuild=True)
    assert found(home, "pivot fail", **more)[0] == before[0]


def test_what_was_composed_happened_once(home: RecordHome) -> None:
    source = work()
    home.save(source)
    home.scan()
    before = timeline(home.app, TimelineRequest(all=True))
    made = composed(home, source.id, apply=True, cwd=home.folder)
    composed(home, made.session, apply=True, cwd=home.folder)
    after = timeline(home.app, TimelineRequest(all=True))
    assert (after.totals, after.by_day, after.threads) == (before.totals, before.by_day, before.threads)


def test_a_copy_is_found_by_the_title_of_its_session_and_where_its_original_is_not_looked_for(home: RecordHome) -> None:
    source = work()
    home.save(source)
    home.scan()
    made = composed(home, source.id, apply=True, cwd=home.folder, title="Zebrafinch pivot, from the start")
    copies = {line.id for line in session(home.app, SessionRequest(made.session)).threads}
    assert copies & set(found(home, "zebrafinch pivot")[0])
    assert set(found(home, f"pivot session:{made.session}")[0]) <= copies
    assert found(home, f"pivot session:{made.session}")[0]


@pytest.mark.parametrize("title", [None, "Evil \x1b[31mred\x9b\x07 \n title", "\x1b "])
def test_no_control_character_of_a_transcript_stands_in_a_title(home: RecordHome, title: str | None) -> None:
    source = ClaudeSession("evil")
    source.prompt("Evil \x1b]0;owned\x07 prompt \x9b31m")
    source.reply("ok")
    home.save(source)
    home.scan()
    made = composed(home, source.id, title=title, apply=True, cwd=home.folder)
    titles = {record["customTitle"] for record in lines(made.path) if "customTitle" in record}
    assert titles == {made.title}
    assert made.title.startswith("Evil")
    assert not [char for char in made.title if ord(char) < 32 or 127 <= ord(char) < 160]


def test_private_text_goes_to_no_model_again(home: RecordHome) -> None:
    session = work()
    session.prompt("Mind <private>the hidden word</private> and the <b>rest</b>")
    session.reply("Noted: <b>rest</b>")
    session.prompt("x")
    session.records[-1]["message"]["content"] = [
        {"type": "text", "text": "open <private>the hidden word"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}},
        {"type": "text", "text": "the hidden word</private> shown"},
    ]
    session.reply("y")
    queued = {"type": "queued_command", "prompt": "a <private>the hidden word</private>"}
    last = session.records[-1]
    node = {name: last[name] for name in ("sessionId", "cwd", "timestamp", "isSidechain")}
    session.records.append(
        {**node, "type": "attachment", "attachment": queued, "uuid": session.fork("q").id, "parentUuid": last["uuid"]}
    )
    home.save(session)
    codex = CodexRollout("other")
    codex.prompt("Of codex <private>the hidden word</private> too")
    codex.reply("z")
    codex.save(home.folder / ".codex")
    home.scan()
    made = composed(home, session.id, codex.id, apply=True, cwd=home.folder)
    text = Path(made.path).read_text("utf-8")
    assert "hidden word" not in text
    assert text.count("[private]") >= 4
    assert "and the <b>rest</b>" in text
    assert "Of codex [private] too" in text
    assert "shown" in text
