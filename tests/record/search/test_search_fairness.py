"""Length wins nothing, filters act before the cut, and showing a page costs what the page shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fabula.app.record.search import SearchRequest, SearchResult, search
from fabula.kernel.ids import unpack_id
from fabula.record.loader import Loader
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession


def ask(home: RecordHome, query: str, **options: Any) -> SearchResult:
    return search(home.app, SearchRequest(query, all=True, **options))


def test_a_long_conversation_that_mentions_it_often_does_not_beat_the_short_one_about_it(tmp_path: Path) -> None:
    home = RecordHome(tmp_path)
    long = ClaudeSession("long")
    long.prompt("clean up the repository")
    for number in range(120):
        long.reply(f"file {number}: the cache was touched, and the layout of module {number} was changed as well")
    for number in range(40):
        long.prompt(f"other matter {number} about harbours")
    short = ClaudeSession("short")
    short.prompt("why is cache invalidation late")
    short.reply("cache invalidation waits for the timer")
    home.save(long)
    home.save(short)
    home.scan()

    summed = home.rows(
        "select s.uid from passages_fts f join passages p on p.id=f.rowid join threads t on t.id=p.thread_id"
        " join sessions s on s.id=t.session_id where passages_fts match 'cache OR invalidation'"
        " group by t.id order by sum(-f.rank) desc"
    )
    assert unpack_id(summed[0][0]) == long.id  # what adding up all matches would answer
    assert ask(home, "cache invalidation").hits[0].session == short.id


def loaded_for(home: RecordHome, monkeypatch: pytest.MonkeyPatch) -> int:
    rows = 0
    load = Loader.load

    def counting(loader: Loader, wanted: Any) -> Any:
        nonlocal rows
        rows += len(wanted)
        return load(loader, wanted)

    with monkeypatch.context() as patch:
        patch.setattr(Loader, "load", counting)
        assert len(ask(home, "pivot stalls", limit=5).hits) == 5
    return rows


def test_excerpts_are_made_for_the_page_and_not_for_every_candidate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = []
    for count in (20, 400):
        home = RecordHome(tmp_path / str(count))
        session = ClaudeSession(f"many{count}")
        for number in range(count):
            session.prompt(f"the pivot stalls in case {number}")
        home.save(session)
        home.scan()
        costs.append((loaded_for(home, monkeypatch), statements_of(home)))
    assert costs[0][0] == costs[1][0] <= 10
    assert abs(costs[0][1] - costs[1][1]) <= 5


def statements_of(home: RecordHome) -> int:
    """Return how many statements one search runs on the map."""
    counted: list[str] = []

    def note(_: Any, statement: str, __: Any) -> bool:
        counted.append(statement)
        return True

    home.map.exec_trace = note
    try:
        ask(home, "pivot stalls", limit=5)
    finally:
        home.map.exec_trace = None
    assert counted
    return len(counted)


def test_the_newest_conversation_leads_the_recent_ones_however_small_it_is(tmp_path: Path) -> None:
    home = RecordHome(tmp_path)
    session = ClaudeSession("busy")
    for number in range(230):
        session.prompt(f"pivot {number} " + "pivot and more words " * 20)
    small = ClaudeSession("small", clock=session.clock)
    small.prompt("pivot")
    home.save(session)
    home.save(small)
    home.scan()

    for query in ("pivot", "since:2026-01-01"):
        assert ask(home, query, sort="recent", limit=1).hits[0].session == small.id


def test_facets_narrow_a_search_together_and_alone(tmp_path: Path) -> None:
    home = RecordHome(tmp_path)
    session = ClaudeSession("facets")
    session.prompt("zigzag pivot")
    session.reply("We decided to keep `sled-zigzag` as it is.")
    wanted = session.prompt_id
    session.prompt("option chain: the option chain of the zigzag pivot")
    session.reply("An option chain lists strikes; we deploy it.")
    home.save(session)
    home.scan()

    for query in ("pivot operative:decide target:sled-zigzag", "operative:decide target:sled-zigzag"):
        assert [hit.thread for hit in ask(home, query).hits] == [wanted]
    assert [hit.thread for hit in ask(home, 'pivot concept:"option chain"').hits] == [session.prompt_id]
    assert not ask(home, "pivot operative:deploy target:sled-zigzag").hits


def test_a_result_says_whose_it_is_when_it_was_and_how_long_it_is_to_read(tmp_path: Path) -> None:
    home = RecordHome(tmp_path)
    session = ClaudeSession("told")
    session.title("Pivot census", custom=True)
    session.prompt("count the pivots " + "and words " * 40)
    session.reply("there are nine pivots")
    home.save(session)
    home.scan()

    (hit,) = ask(home, "pivots").hits

    assert (hit.session, hit.session_title, hit.host, hit.project) == (session.id, "Pivot census", "claude", "harbor")
    assert (hit.thread, hit.records) == (session.prompt_id, 2)
    assert 100 <= hit.tokens <= 130
    assert hit.time is not None
