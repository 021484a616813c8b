"""What a search leaves out to be fast, and that its answers do not show it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.app.record.search import SearchRequest, SearchResult, search
from fabula.app.record.title import TitleRequest, title
from fabula.kernel.errors import FabulaError
from fabula.record.loader import Loader
from fabula.record.map.store import open_map
from fabula.record.search import arms, engine
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession

QUERIES = (
    "kestrel gateway timeout", "timeout of the gateway", "parse_kestrel_header", '"kestrel gateway"', "gateway -heron",
    "timeouts kestrl", "heron kind:prompt", "gateway project:harbor",
)  # fmt: skip


def conversation(seed: str, bird: str, *, cwd: str = "/home/mira/code/harbor") -> ClaudeSession:
    session = ClaudeSession(seed, cwd=cwd)
    session.prompt(f"why does the {bird} gateway run into a timeout")
    session.tool("Bash", {"command": f"grep parse_{bird}_header src/gateway.py"}, f"def parse_{bird}_header(raw): ...")
    session.reply(f"The {bird} gateway waits for a header; the timeout is too short.")
    session.clock.pause(days=1)
    session.prompt(f"and the header of the {bird}?")
    session.reply("parse it twice")
    return session


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> RecordHome:
    record = RecordHome(tmp_path_factory.mktemp("shortcuts"))
    for number, bird in enumerate(("kestrel", "heron", "bittern", "osprey", "avocet", "dunlin")):
        record.save(conversation(f"s{number}", bird, cwd=f"/home/mira/code/{'harbor' if number % 2 else 'quay'}"))
    record.scan()
    return record


def ask(home: RecordHome, query: str, **options: object) -> SearchResult:
    return search(home.app, SearchRequest(query, all=True, **options))  # type: ignore[arg-type]


def firsts(home: RecordHome, by: str) -> list[tuple[str, str]]:
    found = [ask(home, query, by=by).hits for query in QUERIES]
    return [(hits[0].thread, hits[0].record) for hits in found]


@pytest.mark.parametrize("by", ["thread", "record"])
def test_the_first_result_is_the_same_however_little_is_ranked(
    home: RecordHome, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"MANY": 10**9, "THREADS_CHOSEN": 10**9, "HELD_BY_PASSAGES": 10**9}.items():
        monkeypatch.setattr(arms, name, value)
    everything = firsts(home, by)
    for name, value in {
        "MANY": 0,
        "COMMON_OF_MANY": 0.1,
        "THREADS_CHOSEN": 1,
        "HELD_BY_PASSAGES": 1,
        "LISTED": 2,
    }.items():
        monkeypatch.setattr(arms, name, value)
    assert firsts(home, by) == everything


def test_records_that_cannot_win_are_not_read_and_the_best_one_is_shown(
    home: RecordHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    best = ask(home, "kestrel gateway timeout").hits[0]
    read: list[str] = []
    load = Loader.load

    def noted(self, rows):  # type: ignore[no-untyped-def]
        rows = list(rows)
        read.extend(row.kind for row in rows)
        return load(self, rows)

    monkeypatch.setattr(Loader, "load", noted)
    again = ask(home, "kestrel gateway timeout", limit=1).hits[0]
    assert (again.record, again.excerpt) == (best.record, best.excerpt)
    assert read == ["prompt"], "the prompt says all three words: nothing else of its passage can say more"


def test_a_name_of_which_only_parts_are_known_shows_where_they_are(home: RecordHome) -> None:
    hit = ask(home, "parse_kestrel_trailer").hits[0]
    assert "kestrel" in hit.excerpt
    assert hit.marks


def test_results_name_the_session_as_its_person_does(home: RecordHome) -> None:
    hit = ask(home, "bittern gateway").hits[0]
    title(home.app, TitleRequest(hit.session, "The slow bittern"))
    assert ask(home, "bittern gateway").hits[0].session_title == "The slow bittern"


def test_a_map_that_lost_a_thread_is_called_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = RecordHome(tmp_path)
    record.save(conversation("one", "kestrel"))
    record.scan()
    monkeypatch.setattr(engine.Searcher, "_facts", lambda _, threads: dict.fromkeys(threads, engine.ThreadFacts(0)))
    writer = open_map(record.app.home.map)
    writer.execute("pragma foreign_keys=off")
    writer.execute("delete from threads")
    writer.close()
    with pytest.raises(FabulaError) as damaged:
        ask(record, "kestrel gateway")
    assert damaged.value.suggestions == ("fabula record rebuild",)
