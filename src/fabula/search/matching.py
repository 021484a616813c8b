"""Finding a query's terms in a text, with the index's own tokenizer, so that what is marked is what matched."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import apsw

from fabula.kernel.values import frozen
from fabula.search.identifiers import name_parts, unspaced_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

_HUMP = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
ENDING = 6  # characters at most between the beginning of a word that was asked for and its stem


@frozen
class Match:
    """One place in a text: characters from ``start`` to ``end`` say term number ``term``; ``whole`` or a part of it."""

    start: int
    end: int
    term: int
    whole: bool


@frozen
class Wanted:
    """What to find for one term: rows of words (a row of several is a phrase), beginnings of words, parts of names."""

    rows: tuple[str, ...]
    prefixes: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


class Tokenizer:
    """SQLite's tokenizer of an index: the stems of a text, exactly as indexed."""

    def __init__(self, connection: apsw.Connection, definition: str) -> None:
        name, *arguments = definition.split()
        self._tokenize = connection.fts5_tokenizer(name, list(arguments))

    def tokens(self, text: str) -> list[tuple[int, int, str]]:
        """Return (start, end, stem) of each token; positions count bytes of the UTF-8 form."""
        data = text.encode("utf-8", "replace")
        found: Any = self._tokenize(data, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_colocated=False)
        return found  # type: ignore[no-any-return]

    def stems(self, text: str) -> tuple[str, ...]:
        """Return the stems of a text."""
        return tuple(stem for _, _, stem in self.tokens(text))


class Matcher:
    """Finds the terms of one query in texts. ``wanted`` has one entry for each term."""

    def __init__(self, tokenizer: Tokenizer, wanted: Sequence[Wanted]) -> None:
        self._tokenizer = tokenizer
        self._rows: dict[str, list[tuple[tuple[str, ...], int]]] = {}
        self._parts: dict[str, int] = {}
        self._prefixes: list[tuple[str, int]] = []
        self._runs: list[tuple[re.Pattern[str], int, bool]] = []
        for number, one in enumerate(wanted):
            for row in one.rows:
                self._want_row(row, number)
            for part in one.parts:
                self._want_part(part, number)
            self._prefixes += [(prefix.lower(), number) for prefix in one.prefixes]

    def _want_row(self, row: str, number: int) -> None:
        runs = unspaced_runs(row)
        self._runs += [(re.compile(re.escape(run)), number, True) for run in runs]
        stems = self._tokenizer.stems(row)
        if stems and not runs:
            self._rows.setdefault(stems[0], []).append((stems, number))

    def _want_part(self, part: str, number: int) -> None:
        runs = unspaced_runs(part)
        self._runs += [(re.compile(re.escape(run)), number, False) for run in runs]
        if not runs:
            for stem in self._tokenizer.stems(part)[:1]:
                self._parts.setdefault(stem, number)

    def find(self, text: str) -> list[Match]:
        """Return the places that say a term, in order, none inside another."""
        tokens = self._tokenizer.tokens(text)
        humps = _HUMP.search(text) is not None
        rows, parts, prefixes = self._rows, self._parts, self._prefixes
        found: list[Match] = []
        skip = 0
        anywhere = humps or bool(prefixes)
        for at in [at for at, token in enumerate(tokens) if anywhere or token[2] in rows or token[2] in parts]:
            if at < skip:
                continue
            match, taken = self._at(text, tokens, at, inside=humps)
            if match is not None:
                found.append(match)
            skip = at + taken
        if not text.isascii():
            found = _in_characters(found, text)
            found += self._runs_in(text)
            found.sort(key=lambda match: (match.start, -match.end))
        return _without_overlaps(found)

    def _runs_in(self, text: str) -> list[Match]:
        return [
            Match(place.start(), place.end(), number, whole)
            for run, number, whole in self._runs
            for place in run.finditer(text)
        ]

    def _at(self, text: str, tokens: list[tuple[int, int, str]], at: int, *, inside: bool) -> tuple[Match | None, int]:
        """Return the match that begins at a token, if any, and how many tokens it takes."""
        start, end, stem = tokens[at]
        for row, number in self._rows.get(stem, ()):
            if len(row) == 1 or tuple(token[2] for token in tokens[at : at + len(row)]) == row:
                return Match(start, tokens[at + len(row) - 1][1], number, whole=True), len(row)
        number = self._parts.get(stem, -1)
        if number >= 0:
            return Match(start, end, number, whole=False), 1
        for prefix, wanted in self._prefixes:
            if stem.startswith(prefix) or (
                prefix.startswith(stem) and len(prefix) - len(stem) <= ENDING and len(stem) > 3
            ):
                return Match(start, end, wanted, whole=True), 1
        return (self._inside(text, tokens[at]) if inside else None), 1

    def _inside(self, text: str, token: tuple[int, int, str]) -> Match | None:
        """Match the parts of a camelCase word as the words they are."""
        start, end, _ = token
        word = (
            text[start:end] if text.isascii() else text.encode("utf-8", "replace")[start:end].decode("utf-8", "replace")
        )
        if not _HUMP.search(word):
            return None
        stems = self._tokenizer.stems(" ".join(name_parts(word)))
        for at, stem in enumerate(stems):
            for row, number in self._rows.get(stem, ()):
                if stems[at : at + len(row)] == row:
                    return Match(start, end, number, whole=True)
            if stem in self._parts:
                return Match(start, end, self._parts[stem], whole=False)
        return None


def _in_characters(found: list[Match], text: str) -> list[Match]:
    """Turn positions that count bytes into positions that count characters."""
    data = text.encode("utf-8", "replace")
    moved: list[Match] = []
    byte, character = 0, 0
    for match in found:
        character += len(data[byte : match.start].decode("utf-8", "replace"))
        length = len(data[match.start : match.end].decode("utf-8", "replace"))
        moved.append(Match(character, character + length, match.term, match.whole))
        byte, character = match.end, character + length
    return moved


def _without_overlaps(found: list[Match]) -> list[Match]:
    kept: list[Match] = []
    for match in found:
        if not kept or match.start >= kept[-1].end:
            kept.append(match)
    return kept


def relevance(found: Sequence[Match], weights: Sequence[float], parts_share: float) -> float:
    """Score a text by its matches: each term counts by its weight, repetitions ever less (half, then a quarter)."""
    counts: dict[tuple[int, bool], int] = {}
    for match in found:
        key = (match.term, match.whole)
        counts[key] = counts.get(key, 0) + 1
    return sum(
        weights[term] * (1.0 if whole else parts_share) * (2.0 - 0.5 ** (number - 1))
        for (term, whole), number in counts.items()
    )
