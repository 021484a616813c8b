from __future__ import annotations

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.kernel.errors import FabulaError
from fabula.search.identifiers import expand
from fabula.search.query import Filter, Word, read_query
from fabula.search.terms import any_of, terms_of

NOW = 1_780_000_000_000
DAY = 86_400_000
COLUMNS = "prompt, scope"


def index(*texts: str) -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute(
        f"create virtual table t using fts5({COLUMNS}, content='', tokenize='porter unicode61 remove_diacritics 2')"
    )
    for number, text in enumerate(texts, 1):
        row = (number, f"{text}\n{expand(text)}", "hclaude p1 s2 t5 kprompt xbash")
        connection.execute("insert into t(rowid, prompt, scope) values(?,?,?)", row)
    return connection


def found(connection: apsw.Connection, query: str) -> list[int]:
    terms = terms_of(read_query(query, NOW).words)
    if not terms:
        return []
    match = any_of(expression for term in terms for expression in (*term.forms, *term.parts))
    return [int(row) for (row,) in connection.execute("select rowid from t where t match ? order by rowid", (match,))]


def test_words_phrases_exclusions_prefixes_and_filters_are_told_apart() -> None:
    query = read_query('fix "connection reset" -flaky conf* tool:Bash file:"src/a b.py" -host:codex', NOW)
    assert query.words == (Word("fix"), Word("connection reset", phrase=True), Word("conf", prefix=True))
    assert query.excluded == (Word("flaky"),)
    assert query.filters == (
        Filter("tool", "Bash"),
        Filter("file", "src/a b.py"),
        Filter("host", "codex", excluded=True),
    )


@pytest.mark.parametrize("text", ["http://x/y", "std::vector", "foo:bar", "a:b:c", "tool:", "File: x"])
def test_an_unknown_key_stays_text(text: str) -> None:
    query = read_query(text, NOW)
    assert not query.filters
    assert query.words


@pytest.mark.parametrize(
    "text", ['"open', "-", "--", "* ^ ( ) { }", "NEAR(", "a AND OR NOT b", ':"', 'scope:"x', "\0 x\ud800"]
)
def test_no_text_is_a_syntax_error(text: str) -> None:
    assert isinstance(found(index("nothing of it"), text), list)


@given(st.text(max_size=60))
def test_any_text_can_be_asked_of_the_index(text: str) -> None:
    try:
        assert isinstance(found(index("some text"), text), list)
    except FabulaError as error:
        assert error.code == "ERR_QUERY"


def test_a_time_that_is_none_is_refused_by_name() -> None:
    with pytest.raises(FabulaError, match="since:xyz") as caught:
        read_query("since:xyz", NOW)
    assert caught.value.code == "ERR_QUERY"
    assert caught.value.suggestions


def test_a_kind_that_does_not_exist_is_refused_by_name() -> None:
    with pytest.raises(FabulaError, match="kind:poem"):
        read_query("kind:poem", NOW)


def test_times_are_relative_to_now_and_until_a_day_means_its_end() -> None:
    assert read_query("since:7d", NOW).since == NOW - 7 * DAY
    day = read_query("since:2026-01-02 until:2026-01-02", NOW)
    assert day.since is not None
    assert day.until == day.since + DAY


@pytest.mark.parametrize("query", ["parseConfig", "parse_config", "parse config"])
def test_a_name_is_found_however_its_words_are_joined(query: str) -> None:
    connection = index("call parseConfig", "the parse_config step", "please parse config", "unrelated")
    assert found(connection, query) == [1, 2, 3]


@pytest.mark.parametrize("query", ["getUserName", "get_user_name", "user name"])
def test_names_of_three_words_find_each_other(query: str) -> None:
    assert found(index("getUserName()", "get_user_name()", "the user name"), query) == [1, 2, 3]


@pytest.mark.parametrize("query", ["b.py", "a/b", "src/a/b.py", "a/b.py"])
def test_a_path_is_found_whole_and_in_parts(query: str) -> None:
    assert found(index("edit src/a/b.py now", "other.txt"), query)[0] == 1


@pytest.mark.parametrize("query", ["タワー", "京タ", "に", "く", "東京タワーに行く"])
def test_text_without_spaces_is_found_by_any_part_of_it(query: str) -> None:
    assert found(index("東京タワーに行く", "天気"), query) == [1]


def test_characters_that_are_no_neighbours_are_not_found_together() -> None:
    assert found(index("東。京"), "東京") == []


def test_thai_is_found_inside_a_sentence() -> None:
    assert found(index("กำลังทดสอบระบบ"), "ทดสอบ") == [1]


@pytest.mark.parametrize("query", ["configur*", "configura*", "confi*"])
def test_a_prefix_finds_words_whose_stem_is_shorter(query: str) -> None:
    assert found(index("the configuration", "other"), query) == [1]


@pytest.mark.parametrize("query", ["p1", "t5", "kprompt", "xbash", "p*", "x*"])
def test_filter_tokens_are_never_found_by_words(query: str) -> None:
    assert found(index("nothing here"), query) == []


def test_stop_words_are_dropped_while_other_words_remain() -> None:
    assert [term.text for term in terms_of(read_query("what is the deadlock", NOW).words)] == ["deadlock"]
    assert [term.text for term in terms_of(read_query("what is the", NOW).words)] == ["what", "is", "the"]


def test_a_possessive_is_the_word_itself() -> None:
    assert [term.text for term in terms_of(read_query("Mira's limiter", NOW).words)] == ["Mira", "limiter"]


def test_a_pasted_page_is_bounded() -> None:
    assert len(terms_of(read_query(" ".join(f"word{i}" for i in range(5_000)), NOW).words)) == 32
