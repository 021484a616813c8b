"""Taking secrets out of text before it is shown, exported or given to a model. Pure.

Redaction never happens while indexing: the vault stays exact and the map searchable. Most text holds no secret, so
it must cost little: rules run only around tokens that could be one (ten characters and more, with a digit), and of
the rules only those whose keyword stands near.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fabula.redaction.rules import Finding, rule_book

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabula.redaction.rules import Rule, RuleBook

_RUN = re.compile(r"[A-Za-z0-9_+/=.~%@:>-]{10,}")
_PIECE = re.compile(r"[A-Za-z0-9_+~-]{10}")
_DIGIT = re.compile(r"[0-9]")
_ASSIGNED = re.compile(r"[=>:|,][`'\"\s=>]{0,6}[A-Za-z0-9_][A-Za-z0-9_+/.=-]{9,}")
_MARK = re.compile(r"\[redacted: [\w-]+\]")
_IN_FRONT = 100  # characters before a token in which the name stands that it is given to
_BETWEEN = 8  # characters between a name and its value in which an operator stands
_BEHIND = 3
_ALWAYS = 24  # a token of this length may be a secret without a digit
_DATA = 8192  # a token longer than this is data (a picture), never a secret
_ROUNDS = 10  # a rule that reads far may pass over a secret that stands before the one it takes


def redact(text: str) -> str:
    """Return ``text`` with each secret replaced by ``[redacted: <rule>]``; applying it twice changes nothing more."""
    for _ in range(_ROUNDS):
        findings = find(text)
        if not findings:
            break
        text = _replaced(text, findings)
    return text


def _replaced(text: str, findings: list[Finding]) -> str:
    parts: list[str] = []
    position = 0
    for finding in findings:
        parts += (text[position : finding.start], f"[redacted: {finding.rule}]")
        position = finding.end
    parts.append(text[position:])
    return "".join(parts)


def find(text: str) -> list[Finding]:
    """Return the secrets in ``text``, in order, none overlapping another."""
    if len(text) < 8:
        return []
    book = rule_book()
    low = _lowered(text)
    found = set(_near(text, low, book))
    found.update(_wide(text, low, book))
    if not found:
        return []
    marked = [mark.span() for mark in _MARK.finditer(text)] if "[redacted: " in text else []
    return _chosen(found, marked)


def _lowered(text: str) -> str:
    """Lower-case text in which every position means the same as before."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(char.lower() if char < "\x80" else char for char in text)


def _near(text: str, low: str, book: RuleBook) -> Iterator[Finding]:
    for start, end in _tokens(text):
        for rule in book.inside.rules(low, start, end):
            yield from rule.findings(text, max(0, start - 2), end + _BEHIND)
        if _ASSIGNED.search(text, max(0, start - _BETWEEN), end) is not None:
            front = max(0, start - _IN_FRONT)
            for rule in book.in_front.rules(low, front, end):
                yield from rule.findings(text, front, end + _BEHIND)


def _tokens(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of what could be a secret by its form alone."""
    for run in _RUN.finditer(text):
        start, end = run.span()
        if (
            end - start <= _DATA
            and (end - start >= _ALWAYS or _DIGIT.search(text, start, end))
            and _PIECE.search(text, start, end)
        ):
            yield start, end


def _wide(text: str, low: str, book: RuleBook) -> Iterator[Finding]:
    called = [(keyword, low) for keyword in book.wide if keyword in low]
    called += [(keyword, text) for keyword in book.capitals if keyword in text]
    for keyword, searched in called:
        for rule in book.wide.get(keyword) or book.capitals[keyword]:
            yield from _around(rule, text, searched, keyword)


def _around(rule: Rule, text: str, searched: str, keyword: str) -> Iterator[Finding]:
    """Yield what a rule finds around each place of its keyword; places whose window was looked at are passed over."""
    before, after = rule.around or (0, 0)
    seen = 0
    position = searched.find(keyword)
    while position >= 0:
        end = min(len(text), position + after)
        if not before:
            yield from rule.findings(text, position, end, anchored=True)
        elif position >= seen:
            yield from rule.findings(text, max(0, position - before), end)
            seen = end - before
        position = searched.find(keyword, position + len(keyword))


def _chosen(found: set[Finding], marked: list[tuple[int, int]]) -> list[Finding]:
    """Keep, of findings that overlap, the first and longest; nothing inside a mark of an earlier redaction."""
    kept: list[Finding] = []
    for finding in sorted(found, key=lambda one: (one.start, -one.end, one.rule == "generic-api-key", one.rule)):
        if kept and finding.start < kept[-1].end:
            continue
        if any(start < finding.end and finding.start < end for start, end in marked):
            continue
        kept.append(finding)
    return kept
