"""How a failure ended: whether a later successful call did what the failed one tried. Pure.

Two calls are about the same thing when they have the same :func:`subject`; among those, :func:`resolves` looks at
what exactly they were asked to do (the tests, the files, the operands).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from fabula.kernel.values import define, field, frozen
from fabula.record.failures.programs import CHECKERS, INTERPRETERS, PREFIXES, TRIVIAL, WITH_SUBCOMMAND, WRAPPERS
from fabula.record.history.actions import SHELL_TOOLS, actions, shell_text
from fabula.record.history.paths import comparable, same_file

if TYPE_CHECKING:
    from fabula.kernel.records import Block

_SEPARATORS = re.compile(r"&&|\|\||[;\n|]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_IDENTIFYING = ("url", "uri", "query", "pattern", "path", "name", "id", "command", "skill", "task_id")
_CHANGES = frozenset(("write", "edit", "patch", "delete"))
_FILE_SUBJECTS = ("change ", "read ")

COMMANDS_REMEMBERED = 256  # shell commands of which is known what they try


@frozen
class _Aim:
    """What a shell command tries: its head (``cargo test``) and what it is applied to."""

    head: str
    operands: tuple[str, ...]
    checks_all: bool  # without operands it covers everything


def subject(call: Block) -> str:
    """Return what a call is about: ``$ cargo test``, ``change app.py``, ``read app.py``, ``WebFetch https://…``.

    Two calls with different subjects never resolve each other, so open failures can be kept by subject.
    """
    given = call.input or {}
    if call.tool in SHELL_TOOLS:
        return "$ " + _aim(shell_text(given)).head
    touches = actions(call, "")
    if touches:
        kind = "change" if touches[0].operation in _CHANGES else "read"
        return f"{kind} {comparable(touches[0].path).rpartition('/')[2]}"
    return f"{call.tool} {_identifying(given)}".rstrip()


@define
class Hints:
    """What a call must show to have one of some subjects: tells most calls apart without reading them.

    A shell call holds the program that begins its subject, and its subcommand; any other has the tool's name, or
    touches a file.
    """

    programs: set[tuple[str, str]] = field(default_factory=set)
    tools: set[str] = field(default_factory=set)
    files: bool = False

    def add(self, tool: str, about: str) -> None:
        """Take in the subject of a call of ``tool``."""
        if tool in SHELL_TOOLS:
            program, _, subcommand = about[2:].partition(" ")
            self.programs.add((program, subcommand if program in WITH_SUBCOMMAND else ""))
        elif about.startswith(_FILE_SUBJECTS):
            self.files = True
        else:
            self.tools.add(tool)

    def allow(self, call: Block) -> bool:
        """Say whether a call may have one of the subjects."""
        if call.tool in SHELL_TOOLS:
            if not self.programs:
                return False
            command = shell_text(call.input or {})
            held = [program in command and subcommand in command for program, subcommand in self.programs]
            return True in held
        return self.files or call.tool in self.tools


def resolves(failed: Block, later: Block) -> bool:
    """Whether ``later``, which succeeded, did what ``failed`` tried.

    The same file was changed or read; the same command ran on the same operands, or a check ran on everything; any
    other tool was called about the same thing.
    """
    if subject(failed) != subject(later):
        return False
    if failed.tool in SHELL_TOOLS:
        return _covers(_aim(shell_text(failed.input or {})), _aim(shell_text(later.input or {})))
    before, after = actions(failed, ""), actions(later, "")
    if before and after:
        return same_file(before[0].path, after[0].path)
    return True


def _covers(failed: _Aim, later: _Aim) -> bool:
    if failed.operands == later.operands:
        return True
    if not later.operands:
        return later.checks_all
    if not failed.operands:
        return False
    return any(_same_operand(failed.operands[0], operand) for operand in later.operands)


def _same_operand(failed: str, later: str) -> bool:
    """``tests/a.py`` covers ``tests/a.py::test_b``; a file is the same from another folder."""
    return failed == later or failed.startswith(later + "::") or same_file(failed, later)


def _aim(command: str) -> _Aim:
    return _aim_of_head(command[:2000])


@lru_cache(COMMANDS_REMEMBERED)
def _aim_of_head(command: str) -> _Aim:
    segments = [words for part in _SEPARATORS.split(command) if (words := _words(part))]
    if not segments:
        return _Aim("", (), checks_all=False)
    words = next((words for words in segments if words[0] not in TRIVIAL), segments[0])
    return _head(words)


def _words(part: str) -> list[str]:
    """Return the words of one simple command, without assignments, wrappers and redirections."""
    words = [word.strip("'\"") for word in part.split() if ">" not in word and "<" not in word]
    while words:
        first = words[0].replace("\\", "/").rpartition("/")[2]
        if _ASSIGNMENT.match(words[0]) or first in WRAPPERS:
            words = words[1:]
        elif first == "timeout" or (first in PREFIXES and words[1:2] and words[1] in PREFIXES[first]):
            words = words[2:]
        else:
            words[0] = first
            break
    return words


def _head(words: list[str]) -> _Aim:
    program = words[0]
    rest = [word for word in words[1:] if word and not word.startswith("-")]
    head = program
    if program in INTERPRETERS:
        head = f"{program} {comparable(rest[0]).rpartition('/')[2]}" if rest and "-c" not in words else program
        rest = rest[1:]
    elif program in WITH_SUBCOMMAND and rest:
        named = 1 if rest[0] == "run" and len(rest) > 1 else 0
        head = f"{program} {rest[named]}"
        rest = rest[named + 1 :]
    return _Aim(head, tuple(rest), checks_all=program in CHECKERS)


def _identifying(given: dict[str, Any]) -> str:
    for key in _IDENTIFYING:
        value = given.get(key)
        if isinstance(value, str):
            return value[:200]
    return ""
