"""What a person or an agent typed to become an article: a claim with paragraphs, or markup; ``-`` is standard input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from fabula.app.wiring import App

STDIN: Final = "-"
TITLE_CHARACTERS: Final = 80
_TWO_DOORS: Final = ('fabula memory write --type semantic --claim "…"', "fabula memory write --type semantic --claim -")


@frozen
class Typed:
    """An article as it was given: ``markup``, or a claim and paragraphs."""

    claim: str = ""
    body: tuple[str, ...] = ()
    markup: str | None = None


def read_typed(
    app: App, claim: str | None, body: tuple[str, ...], markup: str | None, *, optional: bool = False
) -> Typed:
    """Return what was typed, standard input read where it is named.

    A claim from standard input is prose: its first sentence is the claim, the rest the body. Raises ``ERR_USAGE`` for
    none of both (unless ``optional``), for both, and where standard input is named twice or empty.
    """
    if [claim, *body, markup].count(STDIN) > 1:
        raise FabulaError("ERR_USAGE", "standard input can be only one of them", *_TWO_DOORS)
    if claim is not None and markup is not None:
        raise FabulaError("ERR_USAGE", "a claim and markup were both given: a memory is made of one", *_TWO_DOORS)
    if claim is None and markup is None:
        if optional and not body:
            return Typed()
        if body:
            raise FabulaError("ERR_USAGE", "--body belongs to --claim, which is missing", *_TWO_DOORS)
        raise FabulaError("ERR_USAGE", "what should be remembered is missing: --claim or --article-html", *_TWO_DOORS)
    if markup is not None:
        if body:
            raise FabulaError("ERR_USAGE", "--body belongs to --claim; markup holds all of its article", *_TWO_DOORS)
        return _some(Typed(markup=app.stdin_text() if markup == STDIN else markup))
    from fabula.memory.format.fences import claim_and_rest, paragraphs

    parts = [part for text in body for part in paragraphs(app.stdin_text() if text == STDIN else text)]
    if claim != STDIN:
        return _some(Typed(claim or "", tuple(parts)))
    first, rest = claim_and_rest(app.stdin_text())
    return _some(Typed(first, (*rest, *parts)))


def _some(typed: Typed) -> Typed:
    """Return what was typed. Raises ``ERR_USAGE`` where it is blank: a pipe before it may have broken."""
    if not (typed.markup if typed.markup is not None else typed.claim).strip():
        raise FabulaError("ERR_USAGE", "what should be remembered is empty", *_TWO_DOORS)
    return typed


def title_from(typed: Typed) -> str:
    """Return a title made of the claim: its beginning, cut at a word."""
    claim = typed.claim
    if typed.markup is not None:
        from fabula.memory.format.reader import read

        content = read(f"<article>{typed.markup}</article>".encode("utf-8", "replace")).content
        claim = content.claim or content.body or "untitled"
    words = " ".join(claim.split()).rstrip(".!?。 ")
    if len(words) <= TITLE_CHARACTERS:
        return words
    return words[: TITLE_CHARACTERS - 1].rpartition(" ")[0].rstrip(",;:–-— ") + "…"
