"""From the words of a query to terms: for each word the expressions of the index that mean it, whole or in part."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fabula.kernel.text import storable
from fabula.kernel.values import frozen
from fabula.search.identifiers import name_parts, pairs, unspaced_runs
from fabula.search.matching import Wanted
from fabula.search.stopwords import is_stop_word

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabula.search.query import Word

MAXIMUM_TERMS = 32
MAXIMUM_PARTS = 12  # of one term
MAXIMUM_CHARACTERS = 200  # of one word; a longer one is encoded data

#: Endings tried on the beginning of a word, because the index knows words by their stems: ``configura*`` must find
#: ``configur``, the stem of *configuration*.
_ENDINGS = ("e", "s", "ed", "ing", "er", "ion", "tion", "te", "le", "ly", "ment", "y")
_CHUNK = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['’][sS]$")

#: Words that could equal a filter token in the column ``scope`` (see ``record.map.schema``).
_SCOPE_LIKE = re.compile("[pstPST][0-9]+|[hkxHKX][a-zA-Z0-9]+")


@frozen
class Term:
    """One unit of meaning in a query.

    ``forms`` are expressions of the index, any of which matches the term as a whole; ``parts`` match pieces of it (of a
    name, a path, a run of ideographs) and count less. ``wanted`` says the same for finding the term in a text.
    """

    text: str
    forms: tuple[str, ...]
    wanted: Wanted
    parts: tuple[str, ...] = ()
    required: bool = False

    @property
    def whole(self) -> str:
        """The expression that matches the whole term."""
        return any_of(self.forms)

    @property
    def either(self) -> str:
        """The expression that matches the term or a part of it."""
        return any_of((*self.forms, *self.parts))


def quoted(text: str) -> str:
    """Return a text as a string of FTS5's query language: nothing in it is an operator."""
    plain = storable(text).replace('"', '""')
    return f'- scope : "{plain}"' if _SCOPE_LIKE.fullmatch(plain) else f'"{plain}"'


def any_of(expressions: Iterable[str]) -> str:
    """Join expressions so that one of them suffices."""
    found = tuple(dict.fromkeys(expressions))
    return found[0] if len(found) == 1 else f"({' OR '.join(found)})"


def terms_of(words: Iterable[Word]) -> tuple[Term, ...]:
    """Return the terms of a query: stop words are left out unless nothing else remains; phrases are required."""
    given = [word for word in words if len(word.text) <= MAXIMUM_CHARACTERS or word.phrase]
    telling = [word for word in given if word.phrase or word.prefix or not is_stop_word(word.text)]
    terms = {word.text.casefold(): term_of(word) for word in telling or given}
    return tuple(terms.values())[:MAXIMUM_TERMS]


def term_of(word: Word) -> Term:
    """Return the term of one word."""
    text = word.text if word.phrase else _POSSESSIVE.sub("", word.text)
    if word.phrase:
        return Term(text, _phrase_forms(text), Wanted((text,)), required=True)
    if word.prefix:
        return Term(f"{text}*", _prefix_forms(text), Wanted((), (text,)))
    runs = unspaced_runs(text)
    if runs:
        pieces = _run_pieces(runs, text)
        return Term(text, _run_forms(text, runs), Wanted((text,), (), pieces), tuple(map(quoted, pieces)))
    chunks = [part for chunk in _CHUNK.findall(text) for part in name_parts(chunk)]
    rows = [text]
    if len(chunks) > len(_CHUNK.findall(text)):
        rows.append(" ".join(chunks))
    pieces = _name_pieces(text, chunks)
    return Term(text, tuple(map(quoted, rows)), Wanted(tuple(rows), (), pieces), tuple(map(quoted, pieces)))


def _phrase_forms(text: str) -> tuple[str, ...]:
    runs = unspaced_runs(text)
    if len(runs) == 1 and runs[0] == text and len(text) > 1:
        return (quoted(" ".join(pairs(text))),)
    return (quoted(text),)


def _prefix_forms(text: str) -> tuple[str, ...]:
    """A beginning of words, and the stems of the words it may begin. Filter tokens have beginnings too: left out."""
    start = f"- scope : {quoted(text).removeprefix('- scope : ')} *"
    if len(text) < 4 or not text.isalpha():
        return (start,)
    return (start, *(quoted(text + ending) for ending in _ENDINGS))


def _run_forms(text: str, runs: list[str]) -> tuple[str, ...]:
    """A run inside a longer one is its pairs in a row; one character begins a pair, or ends a run."""
    if len(runs) == 1 and len(runs[0]) == len("".join(filter(str.isalnum, text))):
        run = runs[0]
        return (quoted(" ".join(pairs(run))) if len(run) > 1 else f"- scope : {quoted(run)} *",)
    return (quoted(text),)


def _run_pieces(runs: list[str], text: str) -> tuple[str, ...]:
    pieces = [pair for run in runs for pair in pairs(run)]
    pieces += [chunk for chunk in re.findall(r"[A-Za-z0-9]{2,}", text) if not is_stop_word(chunk)]
    return tuple(dict.fromkeys(pieces))[:MAXIMUM_PARTS] if len(pieces) > 1 else ()


def _name_pieces(text: str, chunks: list[str]) -> tuple[str, ...]:
    """The last name of a path, and the words in a name that can stand alone."""
    if len(chunks) < 2:
        return ()
    pieces = [chunk for chunk in chunks if len(chunk) > 2 and not is_stop_word(chunk)]
    name = text.rstrip("/").rpartition("/")[2]
    if name != text and any(map(str.isalnum, name)):
        pieces.insert(0, name)
    return tuple(dict.fromkeys(pieces))[:MAXIMUM_PARTS]
