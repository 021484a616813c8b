"""What a person marked as private, and secrets, are nowhere to be seen: not in the index, not in what is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.app.record.export import ExportRequest, export
from fabula.app.record.search import SearchRequest, search
from fabula.app.record.sessions import SessionsRequest, sessions
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession


@pytest.fixture
def home(tmp_path: Path) -> RecordHome:
    return RecordHome(tmp_path)


def test_a_title_keeps_its_private_part_out_of_the_index(home: RecordHome) -> None:
    session = ClaudeSession("title")
    session.prompt("hello")
    session.title("About <private>ocelots</private> and tapirs")
    home.save(session)
    home.scan()
    assert home.rows("select title from sessions") == [("About  and tapirs",)]
    assert home.rows("select count(*) from titles_fts where titles_fts match 'ocelots'") == [(0,)]
    assert sessions(home.app, SessionsRequest(all=True)).sessions[0].title == "About and tapirs"


def test_private_text_that_goes_on_behind_a_picture_stays_private(home: RecordHome) -> None:
    session = ClaudeSession("picture")
    session.prompt("look <private>at this", image=True)
    content = session.records[-1]["message"]["content"]
    content.append({"type": "text", "text": "my ocelot</private> and answer"})
    home.save(session)
    shown = export(home.app, ExportRequest(session.prompt_id)).text
    assert "ocelot" not in shown
    assert "and answer" in shown
    assert home.found("ocelot") == 0
    assert home.found("answer") == 1


def test_an_excerpt_out_of_the_middle_of_a_private_key_shows_nothing_of_it(home: RecordHome) -> None:
    body = "\n".join(f"{number:02d}a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6A7b8C9" for number in range(40))
    session = ClaudeSession("key")
    session.prompt(f"first words\n-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\nthe walrus")
    home.save(session)
    (hit,) = search(home.app, SearchRequest("walrus", all=True)).hits
    assert "a1B2" not in hit.excerpt + hit.title
    assert "walrus" in hit.excerpt
