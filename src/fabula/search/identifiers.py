"""Words inside words: the parts of camelCase names, and pairs of characters in scripts that write no spaces.

The index's tokenizer already splits ``parse_config`` and ``src/a/b.py``; it keeps ``parseConfig`` and ``東京タワー``
whole. :func:`expand` gives the text that makes their parts findable; readers of queries use the same functions, so
both sides always agree.
"""

from __future__ import annotations

import re
from functools import cache

MAXIMUM_WORD = 80  # a longer run of letters is encoded data, not a name
MAXIMUM_PARTS = 1_000  # names and runs expanded in one text: bounds a hostile one

#: Letters by case, everything else blank: searching this form for humps costs a third of searching the text.
_CASES = bytes(97 if 97 <= code < 123 else 65 if 65 <= code < 91 else 32 for code in range(256))
#: A capital after a small letter (``parseConfig``), or the last capital of an acronym (``HTTPServer``).
_HUMP = re.compile(rb"A(?:(?<=aA)|Aa)")
_PART = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+|[^\W_]")
_WORD_END = re.compile(r"[^\W_]*")

#: Thai, Lao, Myanmar, Khmer, Han, kana and Hangul, with their vowel signs.
_UNSPACED = (
    "\u0e01-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0002ffff"
)


@cache
def _run() -> re.Pattern[str]:
    """Return the expression of a run without spaces, made for the first text that is not Latin: it is large."""
    return re.compile(f"[{_UNSPACED}]+")


def expand(text: str) -> str:
    """Return the extra words to index with ``text``: parts of camelCase names and character pairs; mostly ``""``."""
    cases = text.encode("latin-1", "replace").translate(_CASES)  # one byte a character, so positions agree
    extra = _hump_parts(text, cases) if _HUMP.search(cases) else []
    if not _is_latin(text):
        extra += _run_pairs(text)
    return " ".join(extra) if extra else ""


def _is_latin(text: str) -> bool:
    """Say whether no character lies beyond U+00FF: a copy of the text tells it faster than a search."""
    if text.isascii():
        return True
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return False
    return True


def name_parts(word: str) -> list[str]:
    """Split one camelCase word: ``parseHTTPConfig2`` gives ``parse``, ``HTTP``, ``Config2``; a plain word itself."""
    return _PART.findall(word)


def unspaced_runs(text: str) -> list[str]:
    """Find the runs of letters in scripts without spaces; vowel signs and marks inside a run are left out."""
    if _is_latin(text):
        return []
    runs = ("".join(filter(str.isalnum, run)) for run in _run().findall(text))
    return [run for run in runs if run]


def pairs(run: str) -> list[str]:
    """List the neighbouring pairs of characters of a run, in order."""
    return [run[index : index + 2] for index in range(len(run) - 1)]


def _hump_parts(text: str, cases: bytes) -> list[str]:
    """Split each distinct camelCase word of ``text``, in the order of appearance."""
    found: dict[str, None] = {}
    end = 0
    for hump in _HUMP.finditer(cases):
        start = hump.start()
        if start < end:
            continue
        tail = _WORD_END.match(text, start)
        first, end = start, tail.end() if tail else start + 1
        while first and text[first - 1].isalnum() and start - first <= MAXIMUM_WORD:
            first -= 1
        if end - first <= MAXIMUM_WORD:
            found[text[first:end]] = None
            if len(found) >= MAXIMUM_PARTS:
                break
    return [part for word in found for part in name_parts(word)]


def _run_pairs(text: str) -> list[str]:
    """List the pairs of each distinct run, then its last character, so that one character is found by prefix."""
    extra: list[str] = []
    for run in list(dict.fromkeys(unspaced_runs(text)))[:MAXIMUM_PARTS]:
        if len(run) > 1:
            extra += pairs(run)
            extra.append(run[-1])
    return extra
