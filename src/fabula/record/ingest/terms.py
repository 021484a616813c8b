"""The facets of a thread: what was done (operative), to what (target), about what (concept), and wiki links.

Words are counted once per thread by the C-speed ``Counter`` over white space and classified once per process, so
that facets cost a small part of an index.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

TEXT_LIMIT = 200_000  # characters of one thread's prose that are looked at
PAIR_TOKENS = 400  # words of a thread in which pairs are counted
CONCEPT_LETTERS = 4  # a single word shorter than this names nothing
CONCEPTS = 12  # candidates kept per thread; their rarity is known only when they are asked for
TARGETS = 30
MEMORY_TOKENS = 200_000  # classified words that a process remembers

OPERATIVES = (
    "add analyze audit backfill benchmark build clean commit compact configure connect create debug decide delete "
    "deploy design document draft fix implement index integrate investigate merge migrate optimize parse plan profile "
    "prune refactor reject remove rename resolve restore retrieve revert review scaffold search simplify strip test "
    "tune validate verify wire write"
).split()
_IRREGULAR = {
    "built": "build", "wrote": "write", "written": "write", "decision": "decide", "rebuilt": "build", "chose": "decide",
    "chosen": "decide", "choose": "decide",
}  # fmt: skip

_EXTENSIONS = frozenset(
    "rs py pine ts tsx js jsx mjs cjs md mdx yml yaml toml json jsonl sql sh bash css scss html db csv txt lock "
    "go java kt rb php c h cc cpp hpp cs swift scala ex exs lua vue svelte proto tf ini cfg xml ipynb".split()
)
_STOP = frozenset(
    "a about above actually after again all also already always am an and another any anything are around as ask "
    "at away back be because been before being below best better both but by call can cannot change check come "
    "could did do does doing done down each else end enough even every everything few file files find first for "
    "found from full get gets getting give go going gone good got had has have having he hello help her here him "
    "his how however i if in instead into is it its just keep know last later least let like line lines little ll "
    "long look looking lot made make makes making many may maybe me mean might more most much must my need needs "
    "never new next no none not nothing now of off ok okay old on once one only onto or other our out over own "
    "part please put quite rather re read really right run running said same saw say see seem seen set she should "
    "show since so some something soon still such sure take tell than thank thanks that the their them then there "
    "these they thing things think this those though three through time to together too tool tried try trying "
    "turn two under until up upon us use used user uses using ve very via want was way we well were what when "
    "where whether which while who whole whose why will with within without work works would yes yet you your".split()
)
_TRIM = "\"'()[]{}<>,;:!?*.…“”‘’"
_BACKTICK = re.compile(r"`([^`\n]{2,120})`")
_WIKI = re.compile(r"\[\[([^\[\]\n]{1,80})\]\]")
_PATH = re.compile(r"^[\w.~@+-]*(?:/[\w.@+-]+)*/[\w@+-]+(?:\.[\w-]+)+$")
_FILE = re.compile(r"^[\w@+-]+(?:\.[\w-]+)*\.(\w{1,6})$")
_SNAKE = re.compile(r"^[A-Za-z]\w*_\w*[A-Za-z0-9]$")
_CAMEL = re.compile(r"^(?:[a-z]+|[A-Z][a-z0-9]+)(?:[A-Z][a-z0-9]+)+$|^[a-z]+(?:[A-Z][a-z0-9]*)+$")
_count = itemgetter(1)  # of (term, count)
_WORD = re.compile(r"^[^\W\d_]+(?:-[^\W\d_]+)*$")


class Word(NamedTuple):
    """What one white-space token is, once its punctuation is gone."""

    operative: str
    target: str
    concept: str


def _forms() -> dict[str, str]:
    forms = dict(_IRREGULAR)
    for verb in OPERATIVES:
        stem = verb[:-1] if verb.endswith(("e", "y")) else verb
        endings = ["s", "es", "ed", "ing"]
        made = [verb, *(verb + ending for ending in endings)]
        if verb.endswith("e"):
            made += [stem + "ed", stem + "ing"]
        elif verb.endswith("y"):
            made += [stem + "ied", stem + "ies"]
        else:
            made += [verb + verb[-1] + "ed", verb + verb[-1] + "ing"]
        for form in made:
            forms.setdefault(form, verb)
    return forms


_FORMS = _forms()


#: What is known of tokens that threads held; most say nothing and are skipped at the price of one look-up.
_NOTHING = Word("", "", "")
_words: dict[str, Word] = {}


def _classify(token: str) -> Word:
    """Say what a token is, and remember it."""
    known = _words.get(token)
    if known is None:
        known = _word(token.strip(_TRIM))
        known = _words[token] = known if any(known) else _NOTHING
    return known


def _word(word: str) -> Word:
    if not word or len(word) > 200:
        return _NOTHING
    lower = word.lower()
    operative = _FORMS.get(lower, "")
    target = ""
    if "/" in word:
        target = word if _PATH.match(word) and "://" not in word else ""
    elif "." in word:
        name = _FILE.match(word)
        target = word if name and name[1].lower() in _EXTENSIONS else ""
    elif "_" in word or not word.islower():
        target = word if _SNAKE.match(word) or _CAMEL.match(word) else ""
    concept = lower if not target and lower not in _STOP and len(lower) >= 2 and _WORD.match(lower) else ""
    return Word(operative, target, concept)


def facets(prose: str) -> list[tuple[str, str, int]]:
    """Return (kind, term, count) of a thread's prose; kinds are operative, target, concept and wikilink."""
    if len(_words) > MEMORY_TOKENS:
        _words.clear()
    prose = prose[:TEXT_LIMIT]
    tokens = prose.split()
    operatives: dict[str, int] = {}
    targets: dict[str, int] = {}
    concepts: dict[str, int] = {}
    recurring: set[str] = set()  # tokens of which a repeated pair can consist
    for token, count in Counter(tokens).items():
        word = _words.get(token) or _classify(token)
        if word is _NOTHING:
            continue
        operative, target, concept = word
        if operative:
            operatives[operative] = operatives.get(operative, 0) + count
        if target:
            targets[target] = targets.get(target, 0) + count
        elif concept:
            if count > 1:
                recurring.add(token)
            if len(concept) >= CONCEPT_LETTERS:
                concepts[concept] = concepts.get(concept, 0) + count
    if recurring:
        _count_pairs(tokens[:PAIR_TOKENS], recurring, concepts)
    if "`" in prose:
        _count_spans(prose, targets)
    found = [("operative", term, count) for term, count in operatives.items()]
    found += [("target", term, count) for term, count in _most(targets, TARGETS)]
    found += [("concept", term, count) for term, count in _most(concepts, CONCEPTS)]
    if "[[" in prose:
        found += [("wikilink", term, count) for term, count in Counter(_WIKI.findall(prose)).items()]
    return found


def _count_pairs(tokens: list[str], recurring: set[str], concepts: dict[str, int]) -> None:
    """Add the pairs of words that stand side by side more than once: a repeated pair says more than its words."""
    pairs = [pair for pair in pairwise(tokens) if pair[0] in recurring and pair[1] in recurring]
    for (left, right), count in Counter(pairs).items() if len(pairs) > 1 else ():
        if count > 1 and left[-1].isalpha():
            term = f"{_classify(left).concept} {_classify(right).concept}"
            concepts[term] = concepts.get(term, 0) + count + 1


def _count_spans(prose: str, targets: dict[str, int]) -> None:
    """Add what stands between backticks."""
    for span in _BACKTICK.findall(prose):
        term = span.strip()
        if len(term) > 1:
            targets[term] = targets.get(term, 0) + 1


def _most(counts: dict[str, int], number: int) -> list[tuple[str, int]]:
    """Return the most frequent terms; sorting few items is three times as fast as ``most_common``'s heap."""
    return sorted(counts.items(), key=_count, reverse=True)[:number]
