"""Searching a real record: transcripts, a scan, and what is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.app.record.context import ContextRequest, context
from fabula.app.record.search import SearchRequest, SearchResult, search
from fabula.app.record.similar import SimilarRequest, similar
from fabula.app.record.terms import TermsRequest, terms
from fabula.kernel.errors import FabulaError
from fabula.record.vault.keepsakes import Keepsakes
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession

HARBOR, QUAY = "/home/mira/code/harbor", "/home/mira/code/quay"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> RecordHome:
    record = RecordHome(tmp_path_factory.mktemp("searching"))
    one = ClaudeSession("one", cwd=HARBOR)
    one.prompt("Why does the rate limiter drop requests under load?")
    one.tool("Bash", {"command": "pytest tests/test_limiter.py"}, "1 failed: clock skew of 40 ms", failed=True)
    one.reply("The monotonic clock is read twice, so parseConfig sees a skew.")
    one.clock.pause(days=2)
    one.prompt("Decide between token bucket and leaky bucket for the gateway")
    one.reply("We chose the token bucket because bursts are allowed.")
    record.save(one)
    two = ClaudeSession("two", cwd=QUAY)
    two.clock.pause(days=5)
    two.prompt("Deploy the quay service with the new certificate")
    two.tool("Edit", {"file_path": f"{QUAY}/src/deploy_app.py", "old_string": "a", "new_string": "b"}, "done")
    two.reply("The certificate is rotated; the rate stayed the same. 東京タワーの設定も変更した。")
    record.save(two)
    record.scan()
    return record


def ask(home: RecordHome, query: str, **options: object) -> SearchResult:
    options.setdefault("all", True)
    return search(home.app, SearchRequest(query, **options))  # type: ignore[arg-type]


def excerpts(result: SearchResult) -> list[str]:
    return [hit.excerpt for hit in result.hits]


def test_the_conversation_that_says_it_comes_first_with_the_matches_marked(home: RecordHome) -> None:
    result = ask(home, "rate limiter under load")
    first = result.hits[0]
    assert "rate limiter" in first.excerpt
    assert [first.excerpt[start:end] for start, end in first.marks] == ["rate", "limiter", "load"]
    assert first.command == f"fabula record thread {first.thread}"
    assert first.time is not None
    assert not result.weak


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ("parse_config", "parseConfig"),
        ("monotonic clocks", "monotonic clock"),
        ('"token bucket"', "token bucket"),
        ("certifcate", "certificate"),
        ("deploy_app.py", "deploy_app.py"),
        ("タワー", "東京タワー"),
        ("certif*", "certificate"),
        ("test_limiter", "test_limiter.py"),
    ],
)
def test_names_stems_phrases_typos_paths_scripts_and_prefixes_are_found(
    home: RecordHome, query: str, part: str
) -> None:
    assert part in ask(home, query).hits[0].excerpt


def test_a_typo_says_what_was_looked_for(home: RecordHome) -> None:
    assert ask(home, "certifcate").corrections == {"certifcate": "certif"}


@pytest.mark.parametrize("query", ["zorvex quimlat", "", "   ", '-- * ""', "-limiter"])
def test_nothing_relevant_is_an_empty_answer(home: RecordHome, query: str) -> None:
    result = ask(home, query)
    assert not result.hits
    assert not result.weak


def test_a_match_that_holds_little_of_the_question_is_called_weak(home: RecordHome) -> None:
    result = ask(home, "kubernetes autoscaler evicts certificate pods overnight")
    assert result.weak or not result.hits


@pytest.mark.parametrize(
    ("query", "threads"),
    [
        ("bucket project:harbor", 1),
        ("bucket project:quay", 0),
        ("bucket project:nowhere", 0),
        ("certificate host:claude", 1),
        ("certificate host:codex", 0),
        ("bucket tool:Edit", 0),
        ("deploy tool:Edit", 1),
        ("deploy -tool:Edit", 1),
        ("clock kind:result", 1),
        ("bucket kind:result", 0),
        ("deploy file:deploy_app.py", 1),
        ("deploy file:src/deploy_app.py", 1),
        ("deploy file:app.py", 0),
        ("bucket operative:decide", 1),
        ("bucket operative:deploy", 0),
        ("rate -certificate", 1),
        ("bucket since:2026-03-04 until:2026-03-04", 1),
        ("bucket until:2026-03-03", 0),
        ("tool:Edit", 1),
        ("since:2026-03-06", 1),
    ],
)
def test_filters_decide_what_is_looked_at(home: RecordHome, query: str, threads: int) -> None:
    assert len(ask(home, query).hits) == threads


def test_a_session_is_named_by_the_beginning_of_its_id(home: RecordHome) -> None:
    session = ask(home, "token bucket").hits[0].session
    assert len(ask(home, f"bucket session:{session[:8]}").hits) == 1
    assert not ask(home, "bucket session:00000000").hits


def test_a_filter_that_cannot_be_read_is_refused_by_name(home: RecordHome) -> None:
    with pytest.raises(FabulaError, match="since:soon"):
        ask(home, "x since:soon")


def test_the_default_scope_is_this_repository(home: RecordHome) -> None:
    here = home.open(cwd=Path(QUAY))
    result = search(here, SearchRequest("rate"))
    assert [hit.project for hit in result.hits] == ["quay"]
    assert {hit.project for hit in search(here, SearchRequest("rate", all=True)).hits} == {"harbor", "quay"}
    nowhere = home.open(cwd=Path("/home/mira/elsewhere"))
    assert not search(nowhere, SearchRequest("rate")).hits


def test_recent_order_is_by_time_and_pages_go_on(home: RecordHome) -> None:
    times = [hit.time or 0 for hit in ask(home, "the", sort="recent").hits]
    assert times == sorted(times, reverse=True)
    assert len(times) > 1
    second = ask(home, "the", sort="recent", limit=1, offset=1).hits[0]
    assert second.time == times[1]


def test_records_are_results_of_their_own(home: RecordHome) -> None:
    first = ask(home, "clock skew", by="record").hits[0]
    assert first.record
    assert first.command == f"fabula record block {first.record}"


def test_an_explanation_tells_each_arm(home: RecordHome) -> None:
    arms = ask(home, "token bucket", explain=True).hits[0].arms
    assert {"prose", "passage", "coverage"} <= set(arms)
    assert not ask(home, "token bucket").hits[0].arms


def test_the_same_question_gets_the_same_answer(home: RecordHome) -> None:
    assert ask(home, "rate clock bucket").hits == ask(home, "rate clock bucket").hits


def test_a_phrase_that_nobody_says_is_looked_for_by_its_words(home: RecordHome) -> None:
    assert "token bucket" in ask(home, '"bucket token"').hits[0].excerpt


def test_a_pack_lists_every_thread_and_hands_out_citations(home: RecordHome) -> None:
    pack = context(home.app, ContextRequest("token bucket clock skew", budget=2_000, all=True))
    assert pack.text.startswith("<historical_context ")
    assert pack.text.endswith("</historical_context>")
    assert "context pack: token bucket clock skew" in pack.text
    assert len(pack.threads) >= 2
    assert f'arcs="{",".join(pack.threads)}"' in pack.text
    assert pack.text.count("<historical_context") == 1
    assert len(pack.text) < 3 * 2_000
    keepsakes = Keepsakes.open(home.app.home.vault, home.clock)
    record = ask(home, "token bucket", by="record").hits[0].record
    assert [one.reader for one in keepsakes.citations(record)] == ["record context"]
    keepsakes.close()


def test_a_pack_without_a_match_is_a_comment(home: RecordHome) -> None:
    pack = context(home.app, ContextRequest("zorvex -- quimlat", all=True))
    assert pack.text.startswith("<!-- fabula: no archive matches for")
    assert pack.text.count("--") == 2
    assert not pack.threads


def test_similar_conversations_do_not_hold_the_one_that_was_named(home: RecordHome) -> None:
    thread = ask(home, "token bucket").hits[0].thread
    result = similar(home.app, SimilarRequest(thread[:10], all=True))
    assert result.thread == thread
    assert thread not in [hit.thread for hit in result.hits]


def test_terms_are_counted_by_kind(home: RecordHome) -> None:
    found = terms(home.app, TermsRequest(kind="operative", all=True)).terms
    assert {"deploy", "decide"} <= {one.term for one in found}
    assert [one.term for one in terms(home.app, TermsRequest(kind="file", all=True)).terms] == [
        f"{QUAY}/src/deploy_app.py"
    ]
    with pytest.raises(FabulaError, match="poem"):
        terms(home.app, TermsRequest(kind="poem"))


def test_what_was_said_a_moment_ago_is_found(tmp_path: Path) -> None:
    record = RecordHome(tmp_path)
    session = ClaudeSession("fresh", cwd=HARBOR)
    session.prompt("first words")
    record.save(session)
    record.scan()
    session.prompt("the flumberwort was renamed")
    record.save(session)
    assert "flumberwort" in ask(record, "flumberwort").hits[0].excerpt


def test_a_filtered_search_finds_a_low_hit_among_many_better_ones(tmp_path: Path) -> None:
    record = RecordHome(tmp_path)
    busy = ClaudeSession("busy", cwd=HARBOR)
    for number in range(320):
        busy.prompt(f"retry retry retry {number}")
    record.save(busy)
    quiet = ClaudeSession("quiet", cwd=QUAY)
    quiet.prompt("a long prompt that speaks of many other things and mentions a retry once " + "and more words " * 40)
    record.save(quiet)
    record.scan()
    assert [hit.project for hit in ask(record, "retry project:quay").hits] == ["quay"]
