"""What a shell command writes into files, as far as its text tells: here-documents and in-place editors. Pure."""

from __future__ import annotations

import re
import shlex

from fabula.kernel.values import define
from fabula.record.history.paths import resolve

_WORD = r"""(?:'[^'\n]+'|"[^"\n]+"|[^\s'"<>|&;()]+)"""
_HEREDOC = re.compile(
    r"""(?:^|[\n;&|(]|\bthen|\bdo)[ \t]*(?:sudo[ \t]+)?
    (?P<program>cat|tee)(?P<before>[^\n;&|<]*?)
    <<(?P<strip>-?)[ \t]*(?P<quote>['"\\]?)(?P<end>[A-Za-z_][\w.-]*)['"]?(?P<after>[^\n]*)\n""",
    re.VERBOSE,
)
_TARGET = re.compile(rf"(?P<mode>>>?)\s*(?P<path>{_WORD})")
_TEE = re.compile(rf"^\s*(?P<append>-a\s+)?(?P<path>{_WORD})")
_FOLDER = re.compile(rf"^\s*cd\s+(?P<path>{_WORD})\s*(?:&&|;|\n)")
_EXPANDED = re.compile(r"[$`\\]")
_IN_PLACE = re.compile(r"(?:^|[\n;&|(])[ \t]*(?:sed|perl|gsed)[ \t]+(?=[^\n;|&]*-(?:i|pi|-in-place))(?P<rest>[^\n|]*)")


@define
class ShellWrite:
    """A file that a command writes. ``content`` is ``None`` when the text does not tell it."""

    path: str
    content: str | None
    append: bool = False


def heredocs(command: str, folder: str) -> list[ShellWrite]:
    """Return the files written by ``cat > f <<EOF`` and ``tee f <<EOF``; paths are resolved below ``folder``."""
    writes: list[ShellWrite] = []
    folder = _working_folder(command, folder)
    position = 0
    while (opening := _HEREDOC.search(command, position)) is not None:
        body, position = _body(command, opening)
        target = _target(opening)
        if target is None or "$" in target[0]:
            continue
        expands = not opening["quote"] and _EXPANDED.search(body) is not None
        writes.append(ShellWrite(resolve(target[0], folder), None if expands else body, append=target[1]))
    return writes


def edited_in_place(command: str, folder: str) -> list[str]:
    """Return the files that ``sed -i`` or ``perl -pi`` change: how is not told."""
    folder = _working_folder(command, folder)
    paths: list[str] = []
    for found in _IN_PLACE.finditer(command):
        try:
            words = shlex.split(found["rest"])
        except ValueError:
            continue
        operands = [word for word in words if not word.startswith("-")]
        paths += [resolve(word, folder) for word in operands[1:] if _is_plain_path(word)]
    return paths


def _is_plain_path(word: str) -> bool:
    return ("/" in word or "." in word) and not any(mark in word for mark in "$*?{};&\\")


def _working_folder(command: str, folder: str) -> str:
    moved = _FOLDER.match(command)
    return resolve(_unquoted(moved["path"]), folder) if moved and "$" not in moved["path"] else folder


def _body(command: str, opening: re.Match[str]) -> tuple[str, int]:
    """Return the document's text and where the command goes on."""
    strip, end = opening["strip"], opening["end"]
    lines: list[str] = []
    position = opening.end()
    while position < len(command):
        line_end = command.find("\n", position)
        line_end = len(command) if line_end < 0 else line_end
        line = command[position:line_end]
        line = line.lstrip("\t") if strip else line
        position = line_end + 1
        if line == end:
            break
        lines.append(line + "\n")
    return "".join(lines), max(position - 1, opening.end() - 1)


def _target(opening: re.Match[str]) -> tuple[str, bool] | None:
    """Return the path that a here-document goes to, and whether it is appended."""
    around = opening["before"] + " " + opening["after"]
    if opening["program"] == "tee":
        named = _TEE.match(opening["before"])
        return (_unquoted(named["path"]), bool(named["append"])) if named else None
    if "|" in opening["after"]:
        return None
    redirected = _TARGET.search(around)
    return (_unquoted(redirected["path"]), redirected["mode"] == ">>") if redirected else None


def _unquoted(word: str) -> str:
    return word[1:-1] if word[:1] in "'\"" else word
