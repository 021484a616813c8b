"""Naming the language of code that its author left without a name: one of twelve, or none.

Rules are weighed, not run: each is a pattern that belongs to a language, each line of code that has it counts once. The
answer is given when the best language is ahead of the second by enough for the number of lines; a wrong name
is worse than none. Only where a memory is written: what a file says is never guessed at again.
"""

from __future__ import annotations

import math
import re
from functools import cache
from typing import NamedTuple

#: The languages that are told apart.
LANGUAGES = ("typescript", "javascript", "python", "bash", "json", "sql", "yaml", "html", "toml", "css", "go", "rust")
LONGEST = 4096  # characters: beyond it nothing is said
SURE = 0.30  # confidence from which on a name is given


class Guess(NamedTuple):
    """A language and how sure it is: 0 to below 1."""

    language: str
    confidence: float


#: What a line of JavaScript with types has and one without never does.
_TYPED = (
    r"\w\??: (?:string|number|boolean|unknown|any|void|never|readonly \w+|[A-Z]\w+(?:<.*>)?)(?:\[\])*\s*[;,)=|]"
    r"|\): \w[\w<>\[\]]* (?:\{|=>)| as const\b|\b(?:private|readonly|public) \w+[:(]|^\s*export declare\b"
)

#: language -> (weight, pattern found in a line).
_RULES: dict[str, tuple[tuple[float, str], ...]] = {
    "python": (
        (2.0, r"^\s*(?:async )?def \w+\(.*\).*:\s*$|^\s*class \w+(?:\(.*\))?:\s*$"),
        (2.0, r"^\s*(?:from [\w.]+ import |import [\w.]+(?: as \w+)?\s*$)|^\s*@\w[\w.]*(?:\(.*\))?\s*$"),
        (1.5, r"^\s*(?:if|elif|for|while|with|try|except|else|finally)\b[^{}]*:\s*$"),
        (1.0, r"\bself\.|\bNone\b|\bTrue\b|\bFalse\b|\b(?:not in|is not|lambda)\b|\bprint\(|\bf\"|\"\"\""),
    ),
    "javascript": (
        (1.0, r"^\s*(?:const|let|var) [\w{}\[\], ]+ = |=> |^\s*(?:async )?function\b|===|!=="),
        (1.5, r"\brequire\(|\bmodule\.exports\b|\bconsole\.\w+\(|\bdocument\.|\bundefined\b"),
        (1.5, r"\bawait \w+|^\s*(?:import|export) .*['\"];?$|\bnew [A-Z]\w*\(|\bthis\.\w"),
        (0.5, r";\s*$|^\s*\}\)?;?\s*$|^\s*(?:if|for|while|switch) \(.*\{\s*$"),
        (-2.0, _TYPED),
    ),
    "typescript": (
        (2.5, r"^\s*(?:export )?(?:declare )?(?:interface|type|enum|namespace) \w+.*[{=]"),
        (2.5, _TYPED),
        (0.3, r";\s*$|^\s*\}\)?;?\s*$"),
    ),
    "bash": (
        (2.5, r"^#!.*\b(?:ba|z|)sh\b|^\s*(?:fi|done|esac)\b|^\s*(?:if|while) \[\[? .*\]\]?|;\s*(?:then|do)\s*$"),
        (2.0, r"^\s*\$ \w|^\s*(?:sudo|apt-get|apt|echo|export|cd|mkdir|rm|cp|mv|chmod|grep|curl|tar|source) "),
        (2.0, r"^\s*(?:git|npm|npx|pip|docker|kubectl|cargo|make|ssh|psql|pg_dump|python3?|uv|yarn|pnpm) [\w.-]"),
        (1.0, r"\$\{?\w+\}?|\$\(| \|\| | && | \| \w+| --\w[\w-]*|2>&1"),
    ),
    "json": (
        (2.0, r"^\s*[\{\[]?\s*\"[^\"]+\"\s*:\s*(?:[\"\[{\d-]|true\b|false\b|null\b)"),
        (0.5, r"^\s*[\]}],?\s*$|^\s*[\[{]\s*$"),
    ),
    "sql": (
        (2.5, r"(?i)^\s*(?:select\b.*|insert into|update \w+ set|delete from)\b"),
        (2.5, r"(?i)^\s*(?:create (?:unique )?(?:table|index|view)|alter table|drop table|with \w+ as)\b"),
        (2.0, r"(?i)^\s*(?:from \w+|where \w|group by|order by|(?:left |inner )?join)\b"),
        (1.0, r"(?i)\b(?:not null|primary key|varchar|references|values \(|count\(\*\)|returning)\b|^\s*-- "),
    ),
    "yaml": (
        (1.5, r"^\s*(?:- )?[A-Za-z_][\w.-]*:(?:\s+[^{}\s;](?:.*[^;{,\s])?)?$"),
        (0.3, r"^\s*- [\w\"'./]+|^---\s*$"),
        (-2.0, r"[;{]\s*$|^\s*(?:def|class|if|for|else|try|while|with)\b.*:\s*$"),
    ),
    "html": (
        (2.5, r"(?i)<!doctype html|</?(?:html|head|body|div|span|p|a|ul|li|table|script|h[1-6])(?:\s[^>]*)?/?>"),
        (1.0, r"</[\w-]+>|<[\w-]+(?: [\w-]+=\"[^\"]*\")+ ?/?>|<\?xml"),
    ),
    "toml": (
        (2.5, r"^\s*\[\[?[\w.\"-]+\]\]?\s*$"),
        (1.5, r"^\s*[\w.-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'|\d[\d._-]*|true|false|\[.*\]|\{.*\})\s*$"),
    ),
    "css": (
        (2.5, r"^\s*[.#]?[\w-]+(?:[ ,>:.#][\w\s.:#>,()-]*)?\s*\{\s*$|^\s*@(?:media|import|font-face|keyframes)\b"),
        (2.0, r"^\s*(?:color|margin|padding|display|width|height|font|background|border|position)[\w-]*\s*:.*;"),
        (0.5, r"^\s*[\w-]+\s*:\s*[^;{}]+;\s*$|^\s*\}\s*$"),
    ),
    "go": (
        (3.0, r"^\s*(?:package \w+\s*$|func (?:\(\w+ \*?\w+\) )?\w+\(.*\{\s*$|type \w+ (?:struct|interface) \{)"),
        (2.0, r":= |\bif err != nil\b|\bfmt\.\w+\(|\bdefer \w|\bgo func\(|\bchan \w|\bnil\b"),
    ),
    "rust": (
        (3.0, r"^\s*(?:pub(?:\(crate\))? )?(?:fn \w+.*[{;]|struct \w+|enum \w+|impl\b.*\{|mod \w+|trait \w+)"),
        (3.0, r"^\s*#\[\w"),
        (2.0, r"\blet (?:mut )?\w+(?:: [\w<>&]+)? = |\bprintln!\(|\bmatch \w.*\{|&mut |&str\b|\.unwrap\(\)|\?;"),
    ),
}  # fmt: skip


@cache
def _rules(language: str) -> list[tuple[float, re.Pattern[str]]]:
    return [(weight, re.compile(rule)) for weight, rule in _RULES[language]]


def guess(code: str) -> Guess | None:
    """Return the likeliest language of code, ``None`` where there is nothing to go by.

    The confidence is ``1 - exp(-(best - second) / lines)`` over the weights that each language's rules gather.
    """
    lines = [line for line in code.splitlines() if line.strip()]
    if not lines or len(code) > LONGEST:
        return None
    ranked = sorted(((_score(language, lines), language) for language in LANGUAGES), reverse=True)
    (best, language), (second, _) = ranked[:2]
    if best <= 0:
        return None
    return Guess(language, 1 - math.exp(-max(0.0, best - max(0.0, second)) / len(lines)))


def detect(code: str) -> str | None:
    """Return the language of code, ``None`` unless it is told with confidence."""
    found = guess(code)
    return found.language if found is not None and found.confidence >= SURE else None


def _score(language: str, lines: list[str]) -> float:
    return sum(weight for weight, rule in _rules(language) for line in lines if rule.search(line))
