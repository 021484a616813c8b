"""Exports as Markdown. Recorded text is Markdown already and stays so; whatever could act as HTML is disarmed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fabula.record.reading.document import MADE_WITH, sections, turn_title, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabula.record.reading.document import Document
    from fabula.record.reading.turns import Piece, ThreadView

_FENCE = re.compile(r"(`{3,}|~{3,})([^`]*)$")  # not indented: an indented fence may end with its list item
_CODE = re.compile(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")
_TAG_OR_SCRIPT = re.compile(r"<(?=[A-Za-z/!?])|(?<=\]\()(?=\s*\w+script:)", re.IGNORECASE)
_TICKS = re.compile(r"`+")


def to_markdown(document: Document) -> str:
    """Write a document as Markdown text."""
    lines = [f"# {_plain(document.title)}", ""]
    lines += [f"- {name}: {_plain(value)}" for name, value in document.facts if value]
    for view in document.threads:
        lines += ["", f"## Thread {_plain(view.thread)}", *_thread(view)]
    return visible("\n".join([*lines, "", "---", "", f"*{MADE_WITH}.*", ""]))


def _thread(view: ThreadView) -> Iterator[str]:
    for section in sections(view):
        if section.label:
            yield from ("", f"### {_plain(section.label)}")
        for turn in section.turns:
            yield from ("", f"#### {_plain(turn_title(turn))}", "")
            for piece in turn.pieces:
                yield from (_piece(piece), "")


def _piece(piece: Piece) -> str:
    if piece.kind == "thought":
        return "\n".join(f"> {line}".rstrip() for line in inert_markdown(piece.text).split("\n"))
    if piece.kind == "call":
        return f"**Call** `{piece.tool.replace('`', '')}`\n\n{fenced(piece.text)}"
    if piece.kind == "result":
        return f"**Result**{' (failed)' if piece.failed else ''}\n\n{fenced(piece.text)}"
    if piece.kind in {"image", "document"}:
        return f"*[{piece.kind}]*"
    return inert_markdown(piece.text)


def fenced(text: str) -> str:
    """Put text into a code fence that nothing in it can close."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def inert_markdown(text: str) -> str:
    """Disarm HTML outside of code, and close a code fence that the text leaves open."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    outside, fence = _outside_fences(lines)
    prose = [lines[index] for index in outside]
    certain = not any("`" in _CODE.sub("", line) or "\\`" in line for line in prose)
    for index in outside:
        lines[index] = _disarm(lines[index], code_spans=certain)
    return "\n".join([*lines, fence] if fence else lines)


def _outside_fences(lines: list[str]) -> tuple[list[int], str]:
    """Return the indexes of the lines outside of code fences, and the fence that is open at the end."""
    outside: list[int] = []
    fence = ""
    for index, line in enumerate(lines):
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) and not mark[2].strip() else fence
        elif mark:
            fence = mark[1]
        else:
            outside.append(index)
    return outside, fence


def _disarm(line: str, *, code_spans: bool) -> str:
    """Disarm a line. Code spans stay as they are where it is certain that a renderer sees the same spans."""
    if not code_spans:
        return _TAG_OR_SCRIPT.sub(_harmless, line)
    parts: list[str] = []
    position = 0
    for span in _CODE.finditer(line):
        parts += (_TAG_OR_SCRIPT.sub(_harmless, line[position : span.start()]), span[0])
        position = span.end()
    return "".join([*parts, _TAG_OR_SCRIPT.sub(_harmless, line[position:])])


def _harmless(match: re.Match[str]) -> str:
    return "&lt;" if match[0] else "#"


def _plain(text: str) -> str:
    """One line without markup, for headings and facts."""
    return re.sub(r"([\\`*_<\[#])", r"\\\1", " ".join(text.split()))
