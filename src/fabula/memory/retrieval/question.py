"""Reading a question: words, "phrases", names, --flags, beginnings* and -exclusions. No text is an error. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fabula.kernel.values import frozen
from fabula.search.query import Word
from fabula.search.terms import terms_of

if TYPE_CHECKING:
    from fabula.search.terms import Term

LONGEST = 4_000  # characters that are read of a question
_PIECE = re.compile(r'(?P<minus>-)?(?:"(?P<quoted>[^"]*)"?|(?P<bare>[^\s"]+))')
#: What follows a minus that is no exclusion: ``--recover``, ``-n``, ``-rf``, ``-12`` are pasted from a terminal.
_FLAG = re.compile(r"-.*|\w{1,2}|[\d.,:]+", re.DOTALL)
_QUOTES = str.maketrans("“”„«»", '"""""')


@frozen
class Question:
    """A question as read. ``text`` is what its meaning is taken of; nothing to look for: it is blank."""

    text: str
    terms: tuple[Term, ...] = ()
    excluded: tuple[Term, ...] = ()

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing to look for."""
        return not self.terms


def read_question(text: str) -> Question:
    """Read a question. A word with a minus is excluded as long as something else is looked for."""
    words: list[Word] = []
    excluded: list[Word] = []
    for piece in _PIECE.finditer(text[:LONGEST].translate(_QUOTES)):
        is_quoted = piece["quoted"] is not None
        part = piece["quoted"] if is_quoted else piece["bare"]
        word = _word(part, is_quoted=is_quoted)
        if word is not None:
            is_excluded = piece["minus"] and (is_quoted or not _FLAG.fullmatch(part))
            (excluded if is_excluded else words).append(word)
    if not words:
        words, excluded = excluded, []
    return Question(text[:LONGEST], terms_of(words), terms_of(excluded))


def _word(text: str, *, is_quoted: bool) -> Word | None:
    prefix = not is_quoted and text.endswith("*")
    core = " ".join(text.split()) if is_quoted else text.rstrip("*")
    if not any(map(str.isalnum, core)):
        return None
    return Word(core, phrase=is_quoted and " " in core, prefix=prefix)


def loosened(question: Question) -> Question:
    """Return the question with its phrases as the words they are made of: the phrase itself occurs nowhere."""
    loose: dict[str, Term] = {}
    for term in question.terms:
        for one in terms_of(Word(word) for word in term.text.split()) if term.required else [term]:
            loose.setdefault(one.text.casefold(), one)
    return Question(question.text, tuple(loose.values()), question.excluded)
