"""Reading what a person typed to search: words, "phrases", -exclusions, prefix* and ``key:value`` filters.

No text is a syntax error: an unknown ``key:`` stays text (``http://x``, ``std::vector``), an open quote runs to the
end. Only a known filter with a value that cannot be read is refused.
"""

from __future__ import annotations

import re

from fabula.kernel.errors import FabulaError
from fabula.kernel.records import KINDS
from fabula.kernel.values import frozen
from fabula.kernel.when import read_when

FILTERS = (
    "project", "host", "kind", "tool", "file", "session", "operative", "target", "concept", "since", "until",
)  # fmt: skip
_TIMES = ("since", "until")
_DAY = 86_400_000

_PIECE = re.compile(
    rf'(?P<minus>-)?(?:(?P<key>{"|".join(FILTERS)}):(?=["\S]))?(?:"(?P<quoted>[^"]*)"?|(?P<bare>[^\s"]\S*))'
)
_QUOTES = str.maketrans("“”„«»", '"""""')


@frozen
class Word:
    """One thing to look for: a word, a ``phrase`` (its words in a row) or the beginning of words (``prefix``)."""

    text: str
    phrase: bool = False
    prefix: bool = False


@frozen
class Filter:
    """One condition; ``excluded`` when it was written with a minus."""

    key: str
    value: str
    excluded: bool = False


@frozen
class Query:
    """A query as read. Times are ms since the epoch; ``until`` is excluded (it is the end of a day that was named)."""

    text: str
    words: tuple[Word, ...] = ()
    excluded: tuple[Word, ...] = ()
    filters: tuple[Filter, ...] = ()
    since: int | None = None
    until: int | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to look for and nothing to filter by."""
        return not (self.words or self.filters or self.since is not None or self.until is not None)


def read_query(text: str, now: int) -> Query:
    """Read a query; ``now`` (ms) is what relative times count from.

    Raises ``ERR_QUERY``, naming the filter, for a time that is none and a kind that does not exist.
    """
    words: list[Word] = []
    excluded: list[Word] = []
    filters: list[Filter] = []
    times: dict[str, int] = {}
    for piece in _PIECE.finditer(text.translate(_QUOTES)):
        key, minus = piece["key"], piece["minus"] is not None
        value = piece["quoted"] if piece["quoted"] is not None else piece["bare"]
        if key in _TIMES and not minus:
            times[key] = _moment(key, value, now)
        elif key is not None and key not in _TIMES and value:
            filters.append(Filter(key, _checked(key, value), minus))
        else:
            whole = value if key is None else f"{key}:{value}"
            word = _word(whole, quoted=piece["quoted"] is not None and key is None)
            if word is not None:
                (excluded if minus and not whole.startswith("-") else words).append(word)
    return Query(text, tuple(words), tuple(excluded), tuple(filters), times.get("since"), times.get("until"))


def _word(text: str, *, quoted: bool) -> Word | None:
    """Return the word in a piece of the query; ``None`` when it holds no letter and no digit."""
    prefix = not quoted and text.endswith("*")
    core = " ".join(text.split()) if quoted else text.rstrip("*")
    if not any(map(str.isalnum, core)):
        return None
    return Word(core, phrase=quoted and " " in core, prefix=prefix)


def _checked(key: str, value: str) -> str:
    if key != "kind":
        return value
    kind = value.lower()
    if kind not in KINDS:
        raise FabulaError("ERR_QUERY", f"kind:{value} is no kind of record", f"kinds: {', '.join(KINDS)}")
    return kind


def _moment(key: str, value: str, now: int) -> int:
    moment = read_when(value, now)
    if moment is None:
        raise FabulaError(
            "ERR_QUERY", f"{key}:{value} is not a time", f"write {key}:2026-03-01, {key}:7d or {key}:yesterday"
        )
    return moment + _DAY if key == "until" and _names_a_day(value) else moment


def _names_a_day(value: str) -> bool:
    """Say whether a time names a whole day, whose end ``until:`` then means."""
    return value.lower() in {"today", "yesterday"} or bool(re.fullmatch(r"\d{4}-?\d\d-?\d\d", value))
