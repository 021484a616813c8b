"""The log of a repository as rows: each commit with its message and what it did to each path, blob ids included.

One ``git log --raw`` gives all of it; a merge gives one row for each of its parents.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from fabula.kernel.values import frozen
from fabula.storage.git.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabula.storage.git.program import Git

_FORMAT = "--format=%x01%H%x00%P%x00%ct%x00%B%x00"
#: where a commit begins; no message holds a NUL, so nothing in one reads as the beginning of another
_BEGIN = re.compile(rb"(?:\A|(?<=\0))\x01([0-9a-f]{40}(?:[0-9a-f]{24})?)\0")
_LOG_SECONDS = 600.0


@frozen
class Touch:
    """What a commit did to one path; an id is empty where there was, or is, nothing."""

    path: str
    old: str
    new: str


@frozen
class LogRow:
    """A commit beside one of its parents: ``at`` in seconds since 1970 by its committer, ``message`` whole."""

    commit: str
    parents: tuple[str, ...]
    at: int
    message: str
    touches: tuple[Touch, ...]

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.split("\n", 1)[0]


def log_rows(git: Git, *words: str, stdin: bytes = b"", literal: bool = True) -> Iterator[LogRow]:
    """Yield the rows of ``git log``, newest first; ``words`` choose commits and, behind ``--``, paths.

    With ``--stdin`` among the words the names of commits come from ``stdin``. Raises ``ERR_GIT``.
    """
    front = ("--literal-pathspecs",) if literal else ()
    answer = git.run(
        *front, "log", "--root", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-show-signature", "--no-notes",
        "--no-decorate", "--encoding=UTF-8", _FORMAT, *words, stdin=stdin, limit=_LOG_SECONDS,
    )  # fmt: skip
    yield from parse_log(answer.out)


def parse_log(out: bytes) -> Iterator[LogRow]:
    """Read what ``git log --raw -z`` prints with the format of this module."""
    found = list(_BEGIN.finditer(out))
    ends = [*(match.start() for match in found[1:]), len(out)]
    for match, end in zip(found, ends, strict=False):
        parents, at, message, rows = out[match.end() : end].split(b"\0", 3)
        text = message.decode("utf-8", "replace").rstrip("\n")
        yield LogRow(match[1].decode(), tuple(parents.decode().split()), int(at), text, tuple(_touches(rows)))


def _touches(rows: bytes) -> Iterator[Touch]:
    fields = rows.lstrip(b"\0\n").split(b"\0")
    for at in range(0, len(fields) - 1, 2):
        words = fields[at].split()
        if len(words) == 5 and words[0].startswith(b":"):
            yield Touch(os.fsdecode(fields[at + 1]), _id(words[2]), _id(words[3]))


def _id(word: bytes) -> str:
    text = word.decode()
    return ABSENT if not text.strip("0") else text
