"""What a memory cites, and which sessions had to do with it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from corpus_home import CorpusHome

from fabula.app.joints.citing_memory import SourcesRequest, SourcesResult, citations_for, sources
from fabula.app.joints.recalling import RecallRequest, recall
from fabula.app.joints.session_memories import LinksRequest, links
from fabula.app.record import forget as forgetting
from fabula.app.record.forget import ForgetRequest
from fabula.app.record.session import SessionRequest, session
from fabula.kernel.errors import FabulaError
from fabula.memory.store import archiving
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession

LONG_AGO = 1_770_000_000
QUOTE = "The clock is\nread   twice & < once"


def talk() -> ClaudeSession:
    session = ClaudeSession("cited", cwd="/home/mira/code/harbor")
    session.prompt("Why is the limiter slow?")
    session.reply(f"I looked.\n{QUOTE} for every request.")
    return session


class Sources:
    """A memory that cites a record, at rest."""

    def __init__(self, folder: Path) -> None:
        self.home = CorpusHome(folder)
        self.talk = talk()
        self.file = self.home.save(self.talk)
        os.utime(self.file, (LONG_AGO, LONG_AGO))
        self.home.scan()
        self.reply = str(self.talk.records[1]["uuid"])
        self.path = self.home.remember("Clock", "The limiter reads two clocks.", self.talk.id, ((self.reply, QUOTE),))

    def ask(self, path: str = "", **more: bool) -> SourcesResult:
        return sources(self.home.again().app, SourcesRequest(path or self.path, **more))


@pytest.fixture
def cited(tmp_path: Path) -> Iterator[Sources]:
    cited = Sources(tmp_path)
    yield cited
    cited.home.close()


def test_a_citation_leads_to_the_words_as_the_record_spells_them(cited: Sources) -> None:
    found = cited.ask()
    (source,) = found.sources
    assert (source.state, source.origin, source.citation.quote) == ("found", "live", QUOTE)
    assert (source.before, source.after) == ("I looked.\n", " for every request.")
    assert (found.title, found.session) == ("Clock", cited.talk.id)


def test_it_leads_there_after_the_transcript_is_gone_and_the_memory_was_archived(cited: Sources) -> None:
    cited.file.unlink()
    moved = archiving.archive(cited.home.memory.store(), cited.path, "old")
    cited.home.memory.state().moved(moved.moves)
    found = cited.ask()
    assert found.path == moved.archived
    assert [(one.state, one.origin) for one in found.sources] == [("found", "vault")]


def test_what_was_forgotten_says_so_with_the_date(cited: Sources, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forgetting, "require_consent", lambda *_: None)
    forgetting.forget(cited.home.app, ForgetRequest((cited.talk.id,), apply=True))
    (source,) = cited.ask().sources
    assert (source.state, source.forgotten_at) == ("forgotten", cited.home.clock.now_ms())
    assert source.before == source.after == ""


@pytest.mark.parametrize("quote", ["the clock is read thrice", " "])
def test_words_that_the_record_does_not_say_are_refused_before_anything_is_written(cited: Sources, quote: str) -> None:
    with pytest.raises(FabulaError) as error:
        citations_for(cited.home.app, [(cited.reply, quote)])
    assert error.value.code == "ERR_QUOTE"


def test_a_record_as_a_whole_can_be_cited_and_several_quotes_of_one(cited: Sources) -> None:
    prompt = str(cited.talk.records[0]["uuid"])
    path = cited.home.remember(
        "Two", "Two things.", "", ((prompt, ""), (cited.reply, "I looked."), (cited.reply, QUOTE))
    )
    found = cited.ask(path)
    assert [(one.state, one.citation.record, one.citation.quote) for one in found.sources] == [
        ("found", prompt, ""), ("found", cited.reply, "I looked."), ("found", cited.reply, QUOTE),
    ]  # fmt: skip


def test_used_by_names_the_packs(cited: Sources) -> None:
    done = recall(cited.home.app, RecallRequest("limiter clocks", all=True, session="s-9"))
    assert [(one.id, one.session) for one in cited.ask(used_by=True).packs] == [(done.pack, "s-9")]
    assert cited.ask().packs == ()


def test_a_memory_that_is_not_there_is_an_error(cited: Sources) -> None:
    with pytest.raises(FabulaError) as error:
        cited.ask("areas/inbox/nothing.html")
    assert error.value.code == "ERR_NO_MEMORY"


def test_links_tell_what_a_session_did_by_the_beginning_of_its_id(cited: Sources) -> None:
    state = cited.home.memory.state()
    state.read([cited.path], cited.talk.id)
    state.reinforce([cited.path], "positive", cited.talk.id)
    found = links(cited.home.app, LinksRequest(cited.talk.id[:8]))
    assert found.session == cited.talk.id
    assert {(one.action, one.title) for one in found.memories} == {
        ("wrote", "Clock"), ("read", "Clock"), ("positive", "Clock"),
    }  # fmt: skip
    assert links(cited.home.app, LinksRequest("nobody")).memories == ()


def test_what_a_session_wrote_is_known_from_the_files_alone(cited: Sources) -> None:
    """Another program wrote it, or this is a fresh clone."""
    for file in (cited.home.memory.root / ".fabula/log").glob("*.jsonl"):
        file.unlink()
    found = links(cited.home.again().app, LinksRequest(cited.talk.id))
    assert [(one.action, one.path) for one in found.memories] == [("wrote", cited.path)]


def test_two_sessions_with_one_beginning_are_asked_about(cited: Sources) -> None:
    state = cited.home.memory.state()
    state.read([cited.path], "abc-1")
    state.read([cited.path], "abc-2")
    with pytest.raises(FabulaError) as error:
        links(cited.home.app, LinksRequest("abc"))
    assert error.value.code == "ERR_AMBIGUOUS"
    assert len(links(cited.home.app, LinksRequest("abc-1")).memories) == 1


def test_record_session_shows_the_memories_and_needs_none(cited: Sources, tmp_path: Path) -> None:
    found = session(cited.home.app, SessionRequest(cited.talk.id))
    assert [(one.action, one.path) for one in found.memories] == [("wrote", cited.path)]
    other = RecordHome(tmp_path / "other")
    other.save(talk())
    other.scan()
    assert session(other.app, SessionRequest(cited.talk.id)).memories == ()
    assert not other.app.memory.root.exists()
