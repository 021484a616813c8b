"""From the words of a command line to a call: pure, driven by the table, strict.

A flag never takes a word that belongs to the query, nothing is abbreviated, and what is not understood is an error
that names the nearest thing that would be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from fabula.cli.table import find_command, find_group, names_below
from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fabula.cli.command import Argument, Command, Option

_LARGEST = 999_999_999_999
Number = TypeVar("Number", int, float)


@frozen
class Surroundings:
    """What the meaning of a value depends on: the working directory and the time."""

    cwd: Path
    now_ms: int


@frozen
class Call:
    """A command with the values of its request, or a wish for help (``command`` is then what it is about)."""

    path: tuple[str, ...]
    command: Command | None
    values: dict[str, Any]
    json: bool = False
    help: bool = False
    version: bool = False


def wants_json(words: Sequence[str]) -> bool:
    """Say whether ``--json`` is among the words, so that even a wrong call is answered by an envelope."""
    return "--json" in (words[: words.index("--")] if "--" in words else words)


def parse(words: Sequence[str], surroundings: Surroundings) -> Call:
    """Read a command line. Raises ``ERR_USAGE``."""
    path, rest, flags = _split_path(list(words))
    command = find_command(path)
    if flags & {"--help", "-h"} or command is None:
        return Call(path, command, {}, "--json" in flags, help=True, version=bool(flags & {"--version", "-V"}))
    reading = _Reading(command, surroundings)
    reading.read(rest)
    return Call(path, command, reading.values(), "--json" in flags or reading.json, help=reading.help)


def _split_path(words: list[str]) -> tuple[tuple[str, ...], list[str], set[str]]:
    """Take the command's own words off the front; flags that every command has may stand between them."""
    path: tuple[str, ...] = ()
    flags: set[str] = set()
    allowed = {"--json", "--help", "-h"}
    for position, word in enumerate(words):
        if find_command(path) is not None:
            return path, words[position:], flags
        if word in allowed or (not path and word in {"--version", "-V"}):
            flags.add(word)
        elif find_command((*path, word)) is not None or find_group((*path, word)):
            path = (*path, word)
        else:
            raise _unknown_word(path, word)
    return path, [], flags


def _unknown_word(path: tuple[str, ...], word: str) -> FabulaError:
    shown = " ".join(("fabula", *path))
    if word.startswith("-"):
        near = nearest(word, ["--json", "--help", "--version"])
        return usage_error(f"{shown}: unknown flag {word}", near and f"{shown} {near}", f"{shown} --help")
    children = names_below(path)
    near, other = nearest(word, children), _elsewhere(word)
    suggestion = f"{shown} {near}" if near else other and f"fabula {other}"
    return usage_error(f"{shown}: unknown command {word!r}", suggestion, "fabula help")


def _elsewhere(word: str) -> str:
    """Find a command of another group that ends in this word: ``fabula search`` means ``fabula record search``."""
    from fabula.cli.table import COMMANDS

    endings = {command.path[-1]: command.name for command in reversed(COMMANDS)}  # of equals the first
    near = nearest(word, list(endings))
    return endings[near] if near else ""


def nearest(word: str, names: Sequence[str]) -> str:
    """Return the name most like ``word``, or ``""`` when none is close."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, names, n=1, cutoff=0.55)), "")


def usage_error(message: str, *suggestions: str) -> FabulaError:
    """An ``ERR_USAGE``; empty suggestions are left out."""
    return FabulaError("ERR_USAGE", message, *(text for text in suggestions if text))


class _Reading:
    """Reads the words after a command's name."""

    def __init__(self, command: Command, surroundings: Surroundings) -> None:
        self._command = command
        self._surroundings = surroundings
        self._options = {option.name: option for option in command.options}
        self._given: dict[str, Any] = {}
        self._words: list[str] = []
        self.json = False
        self.help = False

    def read(self, words: list[str]) -> None:
        """Sort the words into flags, options with their values, and plain words."""
        waiting = list(reversed(words))
        while waiting:
            word = waiting.pop()
            if word == "--":
                self._words += reversed(waiting)
                return
            if word == "--json":
                self.json = True
            elif word in {"--help", "-h"}:
                self.help = True
            elif word.startswith("--"):
                self._option(word, waiting)
            elif word.startswith("-") and len(word) > 1 and not self._command.query:
                raise self._unknown_flag(word)
            else:
                self._words.append(word)

    def _option(self, word: str, waiting: list[str]) -> None:
        name, equals, attached = word.partition("=")
        option = self._options.get(name)
        if option is None:
            raise self._unknown_flag(name)
        if option.kind == "flag":
            if equals:
                raise self._error(f"{name} is a flag and takes no value")
            self._given[option.target] = True
            return
        texts = [attached] if equals else []
        while len(texts) < option.values:
            if not waiting or waiting[-1].startswith("--"):
                raise self._error(f"{name} needs a value: {option.usage}")
            texts.append(waiting.pop())
        self._keep(option, [self._value(option, text) for text in texts])

    def _keep(self, option: Option, values: list[Any]) -> None:
        if option.repeat:
            self._given[option.target] = (*self._given.get(option.target, ()), *values)
        elif option.target in self._given:
            raise self._error(f"{option.name} was given twice")
        else:
            self._given[option.target] = values[0] if option.values == 1 else tuple(values)

    def _value(self, option: Option, text: str) -> Any:
        match option.kind:
            case "int":
                return self._number(option, text)
            case "decimal":
                return self._decimal(option, text)
            case "choice":
                return self._choice(option.name, option.choices, text)
            case "path":
                return self._surroundings.cwd / text
            case "time" | "until":
                return self._time(option, text)
            case _:
                return text

    def _number(self, option: Option, text: str) -> int:
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit()):
            raise self._error(f"{option.name} needs a whole number, not {text!r}")
        if len(digits) > len(str(_LARGEST)):
            raise self._error(f"{option.name} is larger than {_LARGEST:,}")
        return self._within(option, int(text))

    def _decimal(self, option: Option, text: str) -> float:
        digits = text.removeprefix("-")
        plain = digits.replace(".", "", 1)
        if not (plain.isascii() and plain.isdigit()) or len(plain) > len(str(_LARGEST)):
            raise self._error(f"{option.name} needs a number such as 0.8, not {text!r}")
        return self._within(option, float(text))

    def _within(self, option: Option, number: Number) -> Number:
        if number < option.least:
            raise self._error(f"{option.name} must be at least {option.least}, not {number}")
        if option.most is not None and number > option.most:
            raise self._error(f"{option.name} must be at most {option.most}, not {number}")
        return number

    def _choice(self, name: str, choices: Sequence[str], text: str) -> str:
        if text not in choices:
            near = nearest(text, choices)
            hint = f"; did you mean {near}?" if near else ""
            raise self._error(f"{name} is one of {', '.join(choices)}, not {text!r}{hint}")
        return text

    def _time(self, option: Option, text: str) -> int:
        from fabula.kernel.when import read_until, read_when

        moment = (read_until if option.kind == "until" else read_when)(text, self._surroundings.now_ms)
        if moment is None:
            raise self._error(f"{option.name} needs a time such as 2026-03-01, 2026-03-01T14:00 or 7d, not {text!r}")
        return moment

    def values(self) -> dict[str, Any]:
        """Return every field of the request. Raises ``ERR_USAGE`` for missing and surplus words."""
        if self.help:
            return {}
        for option in self._command.options:
            if option.required and option.target not in self._given:
                raise self._error(f"{option.usage} is missing")
        found = {option.target: self._given.get(option.target, option.unset) for option in self._command.options}
        words = list(self._words)
        for argument in self._command.arguments:
            found[argument.field] = self._argument(argument, words)
        if words:
            raise self._error(f"surplus word {words[0]!r}")
        return found

    def _argument(self, argument: Argument, words: list[str]) -> Any:
        if not words and argument.many in {"one", "some"}:
            raise self._error(f"{argument.usage} is missing")
        if argument.many in {"one", "optional"}:
            word = words.pop(0) if words else ""
            return self._choice(argument.usage, argument.choices, word) if word and argument.choices else word
        taken = tuple(words)
        words.clear()
        return " ".join(taken) if argument.joined else taken

    def _unknown_flag(self, word: str) -> FabulaError:
        common = [flag for flag in ("--json", "--help") if flag.startswith(word[:3])]
        near = nearest(word, [*self._options, *common])
        hint = f"; did you mean {near}?" if near else ""
        advice = [f"fabula help {self._command.name}"]
        if self._command.query:
            advice.append(f"to look for the word itself: fabula {self._command.name} -- {word}")
        return usage_error(f"fabula {self._command.name}: unknown flag {word}{hint}", *advice)

    def _error(self, message: str) -> FabulaError:
        return usage_error(f"fabula {self._command.name}: {message}", f"fabula help {self._command.name}")
