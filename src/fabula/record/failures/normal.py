"""Making error lines comparable: what changes between two runs of the same error becomes a placeholder. Pure."""

from __future__ import annotations

import re

_QUOTED_PATH = re.compile(
    r"""(?P<quote>['"`])(?:[A-Za-z]:[\\/]|~?/|\.{1,2}/)[^'"`\n]*?(?P<name>[^'"`\n/\\]+)/?(?P=quote)"""
)
_CHANGING = re.compile(
    r"""
    (?P<url>\b(?:https?|wss?|ftp|file)://[^\s'"<>)\]]+)
  | (?P<uuid>\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b)
  | (?P<time>\b\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?
            |\b\d\d:\d\d:\d\d(?:[.,]\d+)?)
  | (?P<address>\b0x[0-9a-fA-F]+\b)
  | (?P<path>(?:\b[A-Za-z]:[\\/]|~/|\.{1,2}/|(?<![\w<>.)\]}])/)(?:[\w.@+%=~-]+[\\/])*(?P<name>[\w.@+%=~-]+)[\\/]?)
  | (?P<relative>\b(?:[\w.@+-]+/)+(?P<leaf>[\w@+-]+\.[A-Za-z]\w{0,7})\b)
  | (?P<kept>\b(?:code|status|errno|error|signal)[:=]-?\d{1,3}\b)
  | (?P<hex>\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,}\b)
  | (?P<number>(?<![A-Za-z_\d])\d+(?:[.,:]\d+)*(?![A-Za-z_]*\d))
    """,
    re.VERBOSE,
)
_PLACEHOLDER = {
    "url": "<url>",
    "uuid": "<uuid>",
    "time": "<time>",
    "address": "<addr>",
    "hex": "<hex>",
    "number": "<n>",
}
_VARIES = re.compile(r"[\d/\\]")
_TELLING = frozenset(("code", "status", "exit", "with", "errno", "http", "http/1.1", "http/2", "error", "signal"))


def normalised(line: str) -> str:
    """Return an error line with paths cut to their last name and changing values replaced by placeholders.

    Numbers that tell errors apart stay: exit, status and error codes, and digits that are part of a word (``E0308``).
    """
    if "/" in line or "\\" in line:
        line = _QUOTED_PATH.sub(r"\g<quote>\g<name>\g<quote>", line)
    words = line.split()
    for at, word in enumerate(words):
        if _VARIES.search(word) is not None and not (at and _is_code(words[at - 1], word)):
            words[at] = _CHANGING.sub(_replaced, word)
    return " ".join(words)


def _is_code(before: str, word: str) -> bool:
    """Whether a short number follows a word that makes it a code: ``exit code 127``, ``(os error 2)``."""
    number = word.strip("()[]<>.,:;'\"-")
    return len(number) <= 3 and number.isdigit() and before.lower().strip("([:=") in _TELLING


def _replaced(found: re.Match[str]) -> str:
    kind = found.lastgroup or ""
    if kind == "kept":
        return found.group()
    if kind in ("path", "name"):
        return found["name"]
    if kind in ("relative", "leaf"):
        return found["leaf"]
    return _PLACEHOLDER[kind]
