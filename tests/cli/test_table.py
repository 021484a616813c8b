"""The one table: nothing advertised is missing, and what it drives says the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.cli.command import Command, Option
from fabula.cli.main import load
from fabula.cli.reference import pages
from fabula.cli.table import COMMANDS, GROUPS, names_below
from fabula.kernel.errors import CODES
from fabula.kernel.values import names_of, optional
from fabula.testing.outcome import Outcome

Fabula = Callable[..., Outcome]
DOCS = Path(__file__).resolve().parents[2] / "docs"


def named(command: Command) -> str:
    return command.name


@pytest.mark.parametrize("command", COMMANDS, ids=named)
def test_every_part_of_a_row_exists(command: Command) -> None:
    assert callable(load(command.handler))
    assert callable(load(command.renderer))
    request = load(command.request)
    fields = set(names_of(request))
    assert set(command.fields()) <= fields
    assert fields - optional(request) <= set(command.fields())


@pytest.mark.parametrize("command", COMMANDS, ids=named)
def test_a_row_is_well_formed(command: Command) -> None:
    assert command.summary[0].islower()
    assert not command.summary.endswith(".")
    assert len(set(command.fields())) == len(command.fields())
    assert command.path[:-1] == () or command.path[:-1] in GROUPS
    for option in command.options:
        assert option.name.startswith("--")
        assert option.name not in {"--json", "--help"}
        assert (option.kind == "choice") == bool(option.choices)
    assert all(argument.many in {"one", "optional"} for argument in command.arguments[:-1])


def test_no_two_commands_share_words_and_no_command_is_a_group() -> None:
    paths = [command.path for command in COMMANDS]
    assert len(set(paths)) == len(paths)
    assert not set(paths) & set(GROUPS)
    assert set(names_below(("record",))) == {path[1] for path in paths if path[0] == "record"}


@pytest.mark.parametrize("command", COMMANDS, ids=named)
def test_help_names_every_argument_and_option(fabula: Fabula, command: Command) -> None:
    by_verb = fabula("help", *command.path)
    by_flag = fabula(*command.path, "--help")
    assert by_verb.status == 0
    assert by_verb.out == by_flag.out
    for option in command.options:
        assert option.hidden or option.usage in by_verb.out
    for argument in command.arguments:
        assert argument.usage in by_verb.out


def test_help_on_nothing_lists_every_command(fabula: Fabula) -> None:
    names = {row["name"] for row in fabula("help", "--json").data["commands"]}
    assert names == {command.name for command in COMMANDS}


def test_help_on_an_unknown_command_names_the_nearest(fabula: Fabula) -> None:
    outcome = fabula("help", "record", "serch", "--json")
    assert outcome.status == 2
    assert outcome.envelope["suggestions"][0] == "fabula help record search"


def test_the_manifest_lists_commands_types_codes_and_formats(fabula: Fabula) -> None:
    data = fabula("manifest", "--json").data
    assert [" ".join(row["path"]) for row in data["commands"]] == [command.name for command in COMMANDS]
    assert set(data["types"]) == {command.result for command in COMMANDS}
    assert set(data["codes"]) == set(CODES)
    assert data["exits"] == {"done": 0, "could_not": 1, "wrong_call": 2, "gate_said_no": 3, "interrupted": 130}
    assert data["formats"]["map"] >= 1
    assert "ERR_USAGE" in fabula("manifest").out


def test_hidden_options_work_and_are_not_advertised(fabula: Fabula) -> None:
    assert "--no-seal" not in fabula("manifest", "--json").out + fabula("help", "record", "scan").out


@pytest.mark.parametrize("name", sorted(pages()))
def test_the_reference_pages_are_what_the_tables_say(name: str) -> None:
    page = DOCS / "reference" / name
    assert page.read_text("utf-8") == pages()[name], "run `make docs`"


def test_an_option_says_what_fills_it() -> None:
    option = Option("--no-sentinel", "x")
    assert (option.target, option.unset, option.usage) == ("no_sentinel", False, "--no-sentinel")
    assert Option("--by", "x", "choice", choices=("a", "b")).usage == "--by a|b"


def test_no_help_names_a_default_that_is_nothing() -> None:
    assert not [name for name, text in pages().items() if "(default )" in text]


@pytest.mark.parametrize("words", [(), *GROUPS], ids=" ".join)
def test_the_example_in_the_help_on_a_group_is_a_command(words: tuple[str, ...], fabula: Fabula) -> None:
    (example,) = fabula("help", *words, "--json").data["examples"]
    assert fabula(*example.removeprefix("fabula ").split()).status == 0
