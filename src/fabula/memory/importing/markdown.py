"""Markdown notes as pieces, one fact each: front matter, headings, list items, paragraphs, wiki links. Pure.

It is read line by line and by what notes of people and agents look like, not by the whole of CommonMark: an item of a
list is a fact, what is indented below it belongs to it; paragraphs and code between two headings are one fact.
"""

from __future__ import annotations

import json
import re

from fabula.kernel.values import field, frozen

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*$")
_ITEM = re.compile(r"(\s*)(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?(.*)$")
_RULE = re.compile(r"\s*([-*_])(?:\s*\1){2,}\s*$")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_WIKI = re.compile(r"!?\[\[([^\[\]|#]+)(?:#[^\[\]|]*)?(?:\|([^\[\]]*))?\]\]")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\(\s*<?([^()\s<>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
_STRONG = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")
_CODE = re.compile(r"^(`{3,}|~{3,})[^\n]*\n.*?^\1[`~]*[ \t]*$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_KEY = re.compile(r"(\s*)([A-Za-z_][\w .-]*?)\s*:(?:\s+(.*))?$")


@frozen
class Piece:
    """One fact of a note: where it begins, under which headings (outermost first), its text, where its links lead."""

    line: int
    headings: tuple[str, ...]
    text: str
    links: tuple[str, ...] = ()


@frozen
class Note:
    """A note: front matter as name -> values, and its pieces. ``text`` is all of it below the front matter."""

    front: dict[str, list[str]] = field(default_factory=dict)
    pieces: list[Piece] = field(default_factory=list)
    text: str = ""


def read_note(text: str) -> Note:
    """Read a note."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    front, body, first = _split_front(text)
    body = _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), body)
    return Note(front, _Splitter(first).run(body.split("\n")), body.strip())


def plain(text: str) -> str:
    """Return text with links as their words, and without marks of emphasis; code in fences stays as it is."""
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        kept.append(match[0])
        return f"\x00{len(kept) - 1}\x00"

    text = _CODE.sub(keep, text.replace("\x00", ""))
    text = _WIKI.sub(lambda match: (match[2] or match[1]).strip(), text)
    text = _LINK.sub(lambda match: match[0] if _is_url(match[2]) and match[1] != match[2] else match[1], text)
    text = _STRONG.sub(r"\2", text)
    return re.sub(r"\x00(\d+)\x00", lambda match: kept[int(match[1])], text)


def links_of(text: str) -> tuple[str, ...]:
    """Return where the links of a text lead inside of the notes: names of wiki links, paths of others."""
    wiki = [match[1].strip() for match in _WIKI.finditer(text)]
    paths = [match[2].partition("#")[0] for match in _LINK.finditer(text) if not _is_url(match[2])]
    return tuple(dict.fromkeys(filter(None, [*wiki, *paths])))


def is_pointer(text: str) -> bool:
    """Whether a text is a line of an index: it begins with a link to another note, and says what is in it."""
    match = _LINK.match(text) or _WIKI.match(text)
    return match is not None and "\n" not in text and (match.re is _WIKI or match[2].lower().endswith((".md", ".mdx")))


def _is_url(target: str) -> bool:
    return bool(re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", target))


# ── front matter ────────────────────────────────────────────────────
def _split_front(text: str) -> tuple[dict[str, list[str]], str, int]:
    """Return the front matter, the rest, and the number of the first line of the rest."""
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return {}, text, 1
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() in {"---", "..."}), None)
    if end is None:
        return {}, text, 1
    return _front(lines[1:end]), "\n".join(lines[end + 1 :]), end + 2


def _front(lines: list[str]) -> dict[str, list[str]]:
    """Read the part of YAML that front matter is written in: scalars, lists in both forms, texts over several lines."""
    found: dict[str, list[str]] = {}
    values: list[str] | None = None
    folds = False
    for line in lines:
        match = None if folds and line[:1].isspace() else _KEY.match(line)
        item = re.match(r"\s*-\s+(.*)$", line)
        if match is not None and item is None:
            values = found.setdefault(match[2].strip().lower(), [])
            said = (match[3] or "").strip()
            folds = said in {"|", ">", "|-", ">-"}
            values += [] if folds else _values(said)
        elif item is not None and values is not None:
            values += _values(item[1].strip())
        elif values is not None and line.strip() and line[:1].isspace():
            values[-1:] = [f"{values[-1]} {line.strip()}"] if values else [line.strip()]
    return {name: said for name, said in found.items() if said}


def _values(said: str) -> list[str]:
    if said.startswith("[") and said.endswith("]"):
        return [value for part in said[1:-1].split(",") if (value := _unquoted(part.strip()))]
    value = _unquoted(said)
    return [value] if value else []


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        try:
            return str(json.loads(text)) if text[0] == '"' else text[1:-1].replace("''", "'")
        except ValueError:
            return text[1:-1]
    return re.sub(r"\s+#.*$", "", text)


# ── pieces ──────────────────────────────────────────────────────────
class _Splitter:
    """Cuts the lines of a note into pieces."""

    def __init__(self, first: int) -> None:
        self._first = first
        self._headings: list[tuple[int, str]] = []
        self._block: list[str] = []
        self._begin = 0
        self._indent: int | None = None  # of the item that is open; ``None``: paragraphs
        self._pieces: list[Piece] = []

    def run(self, lines: list[str]) -> list[Piece]:
        """Return the pieces, in order."""
        fence = ""
        for at, line in enumerate(lines):
            match = _FENCE.match(line)
            if fence:
                self._keep(at, line)
                fence = "" if match is not None and match[1].startswith(fence) and not line.strip(" `~") else fence
            elif match is not None:
                fence = match[1]
                self._keep(at, line)
            else:
                self._line(at, line)
        self._end()
        return self._pieces

    def _line(self, at: int, line: str) -> None:
        heading, item = _HEADING.match(line), _ITEM.match(line)
        if heading is not None:
            self._end()
            level = len(heading[1])
            self._headings = [one for one in self._headings if one[0] < level] + [(level, plain(heading[2]))]
        elif _RULE.match(line):
            self._end()
        elif item is not None and (self._indent is None or len(item[1].expandtabs(4)) <= self._indent + 1):
            self._end()
            self._indent = len(item[1].expandtabs(4))
            self._keep(at, item[2])
        elif self._indent is not None and line.strip() and not line[:1].isspace() and self._is_after_blank():
            self._end()
            self._keep(at, line)
        else:
            self._keep(at, line)

    def _is_after_blank(self) -> bool:
        return bool(self._block) and not self._block[-1].strip()

    def _keep(self, at: int, line: str) -> None:
        if not self._block:
            if not line.strip():
                return
            self._begin = at
        self._block.append(line)

    def _end(self) -> None:
        text = _dedented(self._block).strip()
        if text:
            headings = tuple(name for _, name in self._headings if name)
            self._pieces.append(Piece(self._first + self._begin, headings, text, links_of(text)))
        self._block, self._indent = [], None


def _dedented(lines: list[str]) -> str:
    """Return the lines of a piece, those behind the first without the blanks that they all begin with."""
    rest = [line.expandtabs(4) for line in lines[1:]]
    depth = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
    return "\n".join([*lines[:1], *(line[depth:] for line in rest)])
