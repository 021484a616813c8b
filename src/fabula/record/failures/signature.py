"""The signature of an error: which line of a failing tool's output tells what went wrong, made comparable.

Pure, and fast enough to be asked about each failing result while transcripts are read. Only the first and the last
4,096 characters are looked at; the words that mark an error are found by plain searches before any expression runs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fabula.record.failures.normal import normalised
from fabula.record.reading.sentinels import strip

if TYPE_CHECKING:
    from collections.abc import Callable

WINDOW = 4096  # characters looked at from each end
MESSAGE_LIMIT = 400

_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_EXIT_LINE = re.compile(r"(?:Error: )?(?:Exit code|exit status|exit code)[: ] ?-?\d+\s*(?:\n|$)")
_EXCEPTION = re.compile(
    r"(?:Uncaught )?(?:[A-Za-z_][\w$]*[.:]{1,2})*[A-Z][\w$]*(?:Error|Exception|Exit|Interrupt|Warning)\b"
)
_UNINDENTED = re.compile(r"\n([^\s|+][^\n]*)")
_PYTEST = re.compile(r"(?:^|\n)E {2,}([^\n]+)")
_COMPILER = re.compile(r"\berror\b(?:\[\w+\]|\s+[A-Z]{1,4}\d+)?:", re.IGNORECASE)
_THREAD = re.compile(r'^Exception in thread "[^"]*" ')
_SHELL = re.compile(r"^(?:/?[\w./-]*?(?:bash|sh|zsh|dash)|\(eval\))?:? ?(?:line )?(?:\d+: ?)*")
_NPM_DETAIL = ("code ", "path ", "errno ", "syscall ", "A complete log", "in workspace", "signal ", "dest ")
_GENERIC = ("error", "exception", "fatal", "fail", "denied", "cannot", "could not", "unable", "invalid", "not allowed")

#: Texts that a host writes into the place of a result although nothing ran and nothing failed.
_NO_FAILURE = (
    "The user doesn't want to",
    "The user doesn't want to take this action",
    "[Request interrupted",
    "Sibling tool call errored",
    "User rejected tool use",
    "Request cancelled",
)


def signature(text: str) -> tuple[str, str] | None:
    """Return (signature, message) of a failing result's text; ``None`` when it tells of no failure.

    The message is the telling line as it was, at most 400 characters. Two outputs of the same error, from another
    folder, run or time, have the same signature.
    """
    text = _readable(strip(text)[0])  # private text is nobody's error, recalled text an old one
    if not text or text.startswith(_NO_FAILURE):
        return None
    body = _EXIT_LINE.sub("", text, count=1) if text[:16].lower().startswith(("exit", "error: exit")) else text
    line = _telling_line(body.strip()) if body.strip() else text
    message = line.strip()[:MESSAGE_LIMIT]
    made = normalised(message)
    return (made, message) if made else None


def _readable(text: str) -> str:
    """Return the ends of a text without terminal codes and the host's own wrapping."""
    if len(text) > 2 * WINDOW:
        text = text[:WINDOW] + "\n" + text[-WINDOW:]
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = text.strip()
    if text.startswith("<tool_use_error>"):
        text = text[16:].removesuffix("</tool_use_error>").strip()
    return text


def _telling_line(text: str) -> str:
    for reader in _READERS:
        line = reader(text)
        if line:
            return line
    return text.partition("\n")[0]


def _line_at(text: str, position: int) -> str:
    """Return the whole line around a position."""
    end = text.find("\n", position)
    return text[text.rfind("\n", 0, position) + 1 : end if end >= 0 else len(text)]


def _python(text: str) -> str:
    """The last traceback ends with the exception that was seen."""
    start = text.rfind("Traceback (most recent call last)")
    if start < 0:
        return ""
    found = _UNINDENTED.search(text, start)
    return found[1] if found else ""


def _pytest(text: str) -> str:
    """The first ``E`` line of the first failing test."""
    if not (text.startswith("E  ") or "\nE  " in text):
        return ""
    lines = [found[1].strip() for found in _PYTEST.finditer(text)]
    return next((line for line in lines if _EXCEPTION.match(line)), lines[0] if lines else "")


def _java(text: str) -> str:
    """The innermost cause, else the exception that ended a thread."""
    start = text.rfind("Caused by: ")
    if start >= 0:
        return _line_at(text, start).strip().removeprefix("Caused by: ")
    start = text.find("Exception in thread ")
    return _THREAD.sub("", _line_at(text, start).strip()) if start >= 0 else ""


def _panic(text: str) -> str:
    """What a Rust or Go program said when it gave up."""
    start = text.find("panicked at ")
    if start >= 0:
        line, _, rest = text[start:].partition("\n")
        said = line.removeprefix("panicked at ")
        return "panicked: " + (rest.partition("\n")[0] if said.endswith(":") else said)
    start = 0 if text.startswith("panic: ") else text.find("\npanic: ") + 1
    return _line_at(text, start) if text.startswith("panic: ", start) else ""


def _compiler(text: str) -> str:
    """The first error a compiler reports: ``file:1:2: error: …``, ``error[E0308]: …``, ``error TS2304: …``."""
    low = text.lower() if "rror" in text or "RROR" in text else ""
    start = low.find("error") if len(low) == len(text) else -1
    for _ in range(6):
        if start < 0:
            return ""
        found = _COMPILER.match(text, start)
        line = _line_at(text, start)
        # A capital letter inside a word ("ValueError:") is an exception, read by the next reader.
        if found and not _EXCEPTION.match(line.lstrip()) and not line.startswith(("npm ", "Error: Command")):
            return _after_place(line)
        start = low.find("error", start + 5)
    return ""


def _after_place(line: str) -> str:
    """Drop the place in front of a compiler's error: the same error elsewhere is the same error."""
    found = _COMPILER.search(line)
    return line[found.start() :] if found else line


def _exception(text: str) -> str:
    """The first line that begins with the name of an exception."""
    for word in ("Error", "Exception"):
        start = text.find(word)
        for _ in range(6):
            if start < 0:
                break
            line = _line_at(text, start).strip()
            if _EXCEPTION.match(line):
                return line
            start = text.find(word, start + 5)
    return ""


def _npm(text: str) -> str:
    """What npm says of the failure, not its list of codes and places; a failing script's own words come first."""
    first = ""
    for mark in ("npm ERR! ", "npm error "):
        start = text.find(mark)
        while start >= 0:
            line = _line_at(text, start).strip()
            said = line.removeprefix(mark)
            first = first or line
            if said and not said.startswith(_NPM_DETAIL):
                return line
            start = text.find(mark, start + len(mark))
    return first


def _shell(text: str) -> str:
    """What a shell or a small program says: without the place in the script."""
    for mark in ("ommand not found", "o such file or directory", "ermission denied", "fatal: ", "not recognized as"):
        start = text.find(mark)
        if start >= 0:
            return _SHELL.sub("", _line_at(text, start).strip(), count=1)
    return ""


def _go_test(text: str) -> str:
    start = text.find("--- FAIL: ")
    return _line_at(text, start).strip().partition(" (")[0] if start >= 0 else ""


def _generic(text: str) -> str:
    """The first line that has a word of failure in it."""
    low = text.lower()
    if len(low) != len(text):
        return ""
    places = sorted(at for at in (low.find(word) for word in _GENERIC) if at >= 0)
    return next((line for line in (_line_at(text, at).strip() for at in places) if len(line) >= 10), "")


_READERS: tuple[Callable[[str], str], ...] = (
    _python, _pytest, _java, _panic, _npm, _compiler, _exception, _go_test, _shell, _generic,
)  # fmt: skip
