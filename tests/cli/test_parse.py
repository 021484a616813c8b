"""The command line is read strictly, and a wrong one names what would be right."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.cli.parse import Call, Surroundings, parse, wants_json
from fabula.kernel.errors import FabulaError

NOW = 1_772_000_000_000  # 2026-02-25T06:13:20Z
HERE = Surroundings(Path("/here"), NOW)


def read(*words: str) -> Call:
    return parse(words, HERE)


def refused(*words: str) -> FabulaError:
    with pytest.raises(FabulaError) as caught:
        read(*words)
    assert caught.value.code == "ERR_USAGE"
    return caught.value


def test_a_flag_never_swallows_the_query() -> None:
    assert read("record", "search", "--all", "foo", "bar").values["query"] == "foo bar"
    assert read("record", "search", "foo", "--json", "bar").values["query"] == "foo bar"
    assert read("record", "search", "foo", "--all", "bar").values["all"] is True


def test_a_number_beyond_all_use_is_too_large_and_not_called_something_else() -> None:
    assert "larger than 999,999,999,999" in refused("record", "search", "x", "--limit", "9" * 30).message
    assert "whole number" in refused("record", "search", "x", "--limit", "3.5").message


def test_a_command_that_is_sought_in_the_wrong_group_is_named_where_it_is() -> None:
    assert refused("record", "doctor").suggestions[0] == "fabula doctor"
    assert refused("search", "x").suggestions[0] == "fabula record search"
    assert refused("record", "serch").suggestions[0] == "fabula record search"


@pytest.mark.parametrize(
    "words",
    [("--json", "record", "search", "x"), ("record", "--json", "search", "x"), ("record", "search", "x", "--json")],
)
def test_json_is_taken_before_between_and_after_the_words(words: tuple[str, ...]) -> None:
    call = read(*words)
    assert call.json
    assert call.values["query"] == "x"


def test_words_with_one_dash_are_exclusions_in_a_query() -> None:
    assert read("record", "search", "foo", "-bar", "-x").values["query"] == "foo -bar -x"


def test_words_with_one_dash_are_unknown_flags_elsewhere() -> None:
    assert "unknown flag -x" in refused("record", "thread", "abc", "-x").message


def test_after_two_dashes_every_word_belongs_to_the_query() -> None:
    call = read("record", "search", "--", "--all", "--json")
    assert call.values["query"] == "--all --json"
    assert not call.json
    assert not wants_json(["record", "search", "--", "--json"])


def test_an_unknown_flag_names_the_nearest_and_how_to_search_for_it() -> None:
    error = refused("record", "search", "x", "--limt", "3")
    assert "did you mean --limit?" in error.message
    assert any("-- --limt" in suggestion for suggestion in error.suggestions)
    assert "did you mean" not in refused("memory", "link", "a", "b", "--rel", "x").message, "--help is like many words"
    assert "did you mean --help?" in refused("memory", "link", "a", "b", "--hlp").message


def test_flags_are_not_abbreviated() -> None:
    assert "unknown flag --lim" in refused("record", "search", "x", "--lim", "3").message


@pytest.mark.parametrize("number", ["x", "1.5", "", "1e3", "٣", "0", "-2", "9" * 30])
def test_a_bad_number_is_an_error(number: str) -> None:
    assert "--limit" in refused("record", "search", "x", "--limit", number).message


def test_a_number_may_be_attached() -> None:
    assert read("record", "search", "x", "--limit=7").values["limit"] == 7


def test_a_flag_takes_no_value() -> None:
    assert "takes no value" in refused("record", "search", "x", "--all=yes").message


def test_an_option_without_its_value_is_an_error() -> None:
    assert "needs a value" in refused("record", "search", "x", "--limit").message
    assert "needs a value" in refused("record", "search", "x", "--sort", "--all").message


def test_an_option_given_twice_is_an_error_unless_it_repeats() -> None:
    assert "twice" in refused("record", "search", "x", "--limit", "1", "--limit", "2").message
    folders = read("record", "scan", "--vault", "a", "--vault", "/b").values["vault"]
    assert folders == (Path("/here/a"), Path("/b"))


def test_a_choice_names_its_values_and_the_nearest() -> None:
    error = refused("record", "search", "x", "--sort", "recnt")
    assert "relevance, recent" in error.message
    assert "did you mean recent?" in error.message


def test_numbers_lie_within_their_bounds() -> None:
    write = ("memory", "write", "--type", "semantic", "--claim", "x")
    assert read(*write, "--confidence", "0.25").values["confidence"] == 0.25
    assert read(*write, "--importance", "10").values["importance"] == 10
    assert "at most 10" in refused(*write, "--importance", "11").message
    assert "at most 1" in refused(*write, "--confidence", "1.5").message
    assert "at least 0" in refused(*write, "--confidence", "-0.5").message
    for text in ("", "nan", "inf", "1e3", "0,5", "1.2.3", ".", "٣"):
        assert "needs a number" in refused(*write, "--confidence", text).message


def test_what_must_be_said_is_missed_and_closed_words_name_the_nearest() -> None:
    assert "--type" in refused("memory", "write", "--claim", "x").message
    assert read("memory", "write", "--help").help
    assert "did you mean doing?" in refused("memory", "task", "status", "x", "doin").message
    assert read("memory", "task", "status", "x", "doing").values["status"] == "doing"


def test_surplus_and_missing_words_are_errors() -> None:
    assert "surplus word 'b'" in refused("record", "thread", "a", "b").message
    assert "ID is missing" in refused("record", "thread").message
    assert "QUERY... is missing" in refused("record", "search", "--all").message


def test_an_unknown_command_names_the_nearest_wherever_it_lives() -> None:
    assert "fabula record search" in refused("record", "serch", "x").suggestions
    assert "fabula record search" in refused("search", "x").suggestions
    assert "fabula doctor" in refused("docter").suggestions
    assert refused("zzzzzz").suggestions == ("fabula help",)


def test_an_unknown_flag_before_the_command_is_an_error() -> None:
    assert "unknown flag --jsn" in refused("--jsn", "status").message


def test_help_is_asked_for_anywhere_and_wins_over_missing_words() -> None:
    assert read().help
    assert read("record").help
    assert read("record", "search", "--help").help
    assert read("-h", "record", "search").help
    assert read("record", "search", "foo", "-h").help


def test_times_are_read_as_people_type_them() -> None:
    values = read("record", "sessions", "--since", "7d", "--until", "2026-02-01").values
    assert values["since"] == NOW - 7 * 86_400_000
    assert values["until"] == 1_769_904_000_000 + 86_400_000  # the whole day counts
    assert "needs a time" in refused("record", "sessions", "--since", "soon").message


def test_an_option_with_two_values_takes_two() -> None:
    assert read("record", "file", "x.py", "--diff", "1", "2").values["diff"] == ("1", "2")
    assert "needs a value" in refused("record", "file", "x.py", "--diff", "1").message


def test_every_field_of_the_request_is_filled() -> None:
    call = read("record", "search", "x")
    assert call.command is not None
    assert set(call.values) == set(call.command.fields())


WORD = st.text(string.ascii_letters + string.digits + "-=:\"'* äß漢", max_size=12)


@given(st.lists(WORD, max_size=6))
def test_no_words_make_the_parser_fail_in_any_other_way(words: list[str]) -> None:
    try:
        parse(["record", "search", *words], HERE)
    except FabulaError as error:
        assert error.code == "ERR_USAGE"


@given(st.lists(st.text(string.ascii_letters, min_size=1, max_size=8), min_size=1, max_size=6), st.integers(0, 6))
def test_a_flag_at_any_place_leaves_the_query_whole(words: list[str], place: int) -> None:
    with_flag = [*words[:place], "--all", *words[place:]]
    call = parse(["record", "search", *with_flag], HERE)
    assert call.values["query"] == " ".join(words)
    assert call.values["all"] is True
