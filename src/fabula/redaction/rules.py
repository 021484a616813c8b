"""The rules by which secrets are recognised: read from package data, compiled when first needed.

The data are gitleaks' rules (expressions of RE2, ``secret_rules.json``) and our own (``secret_rules_own.json``).
A rule is tried only where one of its keywords stands; its expression is translated to Python's and compiled then.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache, cached_property
from math import log2
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula import data
from fabula.kernel.values import define, frozen
from fabula.redaction.expressions import any_of, translated

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

#: gitleaks' rules that read further than one token, with the characters they need before and after their keyword.
#: None before means that the expression begins with the keyword.
_WIDE: dict[str, tuple[tuple[str, ...], tuple[int, int]]] = {
    "private-key": (("-----begin",), (0, 20_000)),
    "curl-auth-header": (("curl",), (0, 600)),
    "curl-auth-user": (("curl",), (0, 600)),
    "nuget-config-password": (("<add key=",), (0, 300)),
    "sidekiq-sensitive-url": (("contribsys.com",), (60, 20)),
    "facebook-access-token": (("facebook",), (120, 200)),
    "airtable-personnal-access-token": (("airtable",), (150, 200)),
    "freemius-secret-key": (("secret_key",), (2, 120)),
}
#: Keywords that are too short or too common, with what the rule's own tokens always hold instead.
_SHARPER: dict[str, tuple[str, ...]] = {
    "jwt": ("eyj",),
    "sourcegraph-access-token": ("sgp_",),
}
_FEW = 200  # look-ups for keywords one by one that cost less than to make one expression of them all
_OPERATOR = "(?:=|>|:{1,3}=|"  # what gitleaks writes between a name and its value
_NAME = r"[\w.-]{1,50}\Z"
_UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\Z"
_DIGEST = r"(?:[0-9a-fA-F]{7,16}|[0-9a-fA-F]{32}|[0-9a-fA-F]{40}|[0-9a-fA-F]{64})\Z"
_DIGEST_NAME = r"(?i)hash|sha\d|sha-|digest|checksum|commit|etag|integrity|cache|\bref\b|revision|fingerprint"


@frozen
class Finding:
    """A secret in a text: which rule recognised it and where it stands (character positions)."""

    rule: str
    start: int
    end: int


class Rule:
    """One rule. ``around`` says how many characters before and after a keyword it must see; ``None``: one token."""

    def __init__(self, entry: Mapping[str, Any], common: Allowed) -> None:
        """Take an entry of the rule data; ``common`` is what no rule means."""
        self.id: str = entry["id"]
        self.source: str = entry["regex"]
        self.entropy = float(entry.get("entropy", 0))
        self.keywords: tuple[str, ...]
        self.around: tuple[int, int] | None
        self.keywords, self.around = _WIDE.get(self.id, (_SHARPER.get(self.id, tuple(entry["keywords"])), None))
        if "around" in entry:
            self.around = (entry["around"][0], entry["around"][1])
        self._group = int(entry.get("secretGroup", 0))
        self._allowlists: list[dict[str, Any]] = entry.get("allowlists", [])
        self._common = common

    @cached_property
    def expression(self) -> re.Pattern[str]:
        """The compiled expression."""
        return re.compile(translated(self.source), re.ASCII)

    @cached_property
    def allowed(self) -> tuple[Allowed, ...]:
        """What is no secret although the expression matches."""
        return (self._common, *(Allowed(entry) for entry in self._allowlists))

    def findings(self, text: str, start: int, end: int, *, anchored: bool = False) -> Iterator[Finding]:
        """Yield the secrets between two positions of a text; ``anchored``: only one that begins at ``start``."""
        if anchored:
            at_start = self.expression.match(text, start, end)
            matches: Iterable[re.Match[str]] = () if at_start is None else (at_start,)
        else:
            matches = self.expression.finditer(text, start, end)
        for match in matches:
            first, last = match.span(self._secret_group(match))
            secret = text[first:last]
            if self.entropy and entropy(secret) <= self.entropy:
                continue
            if not any(allowed.holds(text, match, secret) for allowed in self.allowed) and not self._is_name(
                text, match, secret
            ):
                yield Finding(self.id, first, last)

    def _secret_group(self, match: re.Match[str]) -> int:
        if self._group:
            return self._group
        return next((index for index, value in enumerate(match.groups(), 1) if value), 0)

    def _is_name(self, text: str, match: re.Match[str], secret: str) -> bool:
        """Ids and digests are names, not secrets, where only the generic rule sees one."""
        if self.id != "generic-api-key":
            return False
        if re.match(_UUID, secret):
            return True
        return re.match(_DIGEST, secret) is not None and re.search(_DIGEST_NAME, whole_match(text, match)) is not None


class Allowed:
    """Matches that are no secrets: by expression on the secret, the whole match or its line, or by a word in it."""

    def __init__(self, entry: Mapping[str, Any]) -> None:
        """Take an entry of the rule data."""
        self._entry = entry
        self._target: str = entry.get("regexTarget", "secret")
        self._stopwords: list[str] = entry.get("stopwords", [])

    @cached_property
    def _expressions(self) -> list[re.Pattern[str]]:
        return [re.compile(translated(source), re.ASCII) for source in self._entry.get("regexes", ())]

    def holds(self, text: str, match: re.Match[str], secret: str) -> bool:
        """Whether the match is allowed."""
        target = secret
        if self._target == "match":
            target = whole_match(text, match)
        elif self._target == "line":
            target = text[text.rfind("\n", 0, match.start()) + 1 : match.end()]
        if any(expression.search(target) for expression in self._expressions):
            return True
        low = secret.lower()
        return any(word in low for word in self._stopwords)


def whole_match(text: str, match: re.Match[str]) -> str:
    """Return what matched, with the rest of the name in front of it."""
    front = text[max(0, match.start() - 50) : match.start()]
    name = re.search(_NAME, front)
    return (name[0] if name else "") + text[match.start() : match.end()]


def entropy(text: str) -> float:
    """Shannon entropy of a text's characters, in bits a character."""
    total = len(text)
    return -sum(count / total * log2(count / total) for count in Counter(text).values()) if total else 0.0


class Called:
    """Rules by their keywords: one expression finds the keywords in a text, and they call the rules."""

    def __init__(self, table: Mapping[str, list[Rule]]) -> None:
        self.keywords = tuple(table)
        self._table = table
        self._rules: dict[str, tuple[Rule, ...]] = {}  # by what the expression finds
        self._asked = 0

    @cached_property
    def _any(self) -> re.Pattern[str]:
        return re.compile(any_of(self._table))

    def _called(self, found: str) -> tuple[Rule, ...]:
        """Return the rules that a keyword calls for.

        The expression finds the shortest of keywords that begin alike, and none inside another: those are added.
        """
        rules = self._rules.get(found)
        if rules is None:
            words = [word for word in self._table if word.startswith(found) or word in found]
            rules = tuple({rule.id: rule for word in words for rule in self._table[word]}.values())
            self._rules[found] = rules
        return rules

    def rules(self, low: str, start: int, end: int) -> Collection[Rule]:
        """Return the rules that keywords between two positions of a lower-case text call for."""
        if self._asked < _FEW:
            self._asked += 1
            part = low[start:end]
            if not any(keyword in part for keyword in self.keywords):
                return ()
        found = self._any.findall(low, start, end)
        if not found:
            return ()
        if len(found) == 1:
            return self._called(found[0])
        return {rule.id: rule for keyword in found for rule in self._called(keyword)}.values()


@define
class RuleBook:
    """All rules, by the keywords that call for them."""

    rules: tuple[Rule, ...]
    inside: Called  # the keyword is part of the secret: ``ghp_…``
    in_front: Called  # the keyword is part of the name that the secret is given to
    wide: dict[str, list[Rule]]  # rules for the text around the keyword itself
    capitals: dict[str, list[Rule]]  # the same, of keywords that are meant in capitals


@cache
def rule_book() -> RuleBook:
    """Return the rules of the package data; read once."""
    rules: list[Rule] = []
    for name in ("secret_rules.json", "secret_rules_own.json"):
        read = json.loads(Path(data.__file__).with_name(name).read_bytes())
        common = Allowed(read["allowlist"])
        rules += [Rule(entry, common) for entry in read["rules"]]
    inside: dict[str, list[Rule]] = {}
    in_front: dict[str, list[Rule]] = {}
    wide: dict[str, list[Rule]] = {}
    capitals: dict[str, list[Rule]] = {}
    for rule in rules:
        table = wide if rule.around else in_front if _OPERATOR in rule.source else inside
        for keyword in rule.keywords:
            (capitals if keyword.isupper() else table).setdefault(keyword, []).append(rule)
    return RuleBook(tuple(rules), Called(inside), Called(in_front), wide, capitals)
