"""Writing commits anew: a stream of ``git fast-export`` is read, changed and given to ``git fast-import``.

Format: ``git-fast-import(1)``. Only commits that change, or follow one that does, are written; all others keep their
ids. What a stream cannot hold, signatures, is gone from the commits that are written.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Protocol

from fabula.kernel.errors import FabulaError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from fabula.storage.git.logrows import LogRow, Touch
    from fabula.storage.git.workshop import Workshop

_SECONDS = 3600.0
_REF = b"refs/heads/rewritten"
_QUOTED = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


class Rules(Protocol):
    """What becomes of files and messages."""

    def becomes(self, path: str, blob: str) -> str:
        """Return the blob that stands for one at a path; empty where there is to be no file."""
        ...

    def message(self, commit: str, text: bytes) -> bytes:
        """Return the message of a commit."""
        ...


def rewrite(
    shop: Workshop, rows: Sequence[LogRow], touched: Iterable[str], rules: Rules, folder: Path
) -> dict[str, str]:
    """Write commits anew by rules; return old id -> new id. No ref moves.

    ``rows``: the log of everything that can be reached, children before parents; ``touched``: the commits that the
    rules change. A commit that changes nothing any more is left out: its id leads to its parent. ``folder``: an empty
    one for what is needed on the way. Raises ``ERR_GIT``.
    """
    first = {row.commit: row for row in reversed(rows)}
    affected = with_descendants(rows, set(touched))
    if not affected:
        return {}
    parents = {parent for commit in affected for parent in first[commit].parents}
    tips = affected - parents
    names = "\n".join([*sorted(tips), *(f"^{parent}" for parent in sorted(parents - affected))])
    exported = shop.git.run(
        "fast-export", "--no-data", "--show-original-ids", "--reference-excluded-parents", "--signed-tags=strip",
        "--reencode=no", "--stdin", stdin=names.encode(), limit=_SECONDS,
    ).out  # fmt: skip
    stream = _Stream(exported, first, rules)
    changed = stream.changed()
    marks = _imported(shop, changed, folder)
    new = {mark: marks.get(mark, mark) for mark in stream.aliases.values()}
    return {commit: new[mark].decode() for commit, mark in stream.aliases.items()}


def with_descendants(rows: Sequence[LogRow], touched: set[str]) -> set[str]:
    """Return some commits and all that follow them."""
    affected: set[str] = set()
    for row in reversed(rows):
        if row.commit in touched or not affected.isdisjoint(row.parents):
            affected.add(row.commit)
    return affected


def _imported(shop: Workshop, stream: bytes, folder: Path) -> dict[bytes, bytes]:
    """Have git write the objects of a stream into the repository; return mark -> id."""
    shop.git.run("init", "--quiet", "--bare", f"--object-format={shop.place.algorithm}", str(folder / "git"))
    marks = folder / "marks"
    elsewhere = {"GIT_DIR": str(folder / "git"), "GIT_OBJECT_DIRECTORY": str(shop.place.common / "objects")}
    words = ("fast-import", "--quiet", "--force", "--date-format=raw-permissive", f"--export-marks={marks}")
    shop.git.run(*words, stdin=stream, extra=elsewhere, limit=_SECONDS)
    rows = marks.read_bytes().split(b"\n") if marks.exists() else []
    return dict(row.split(b" ", 1) for row in rows if b" " in row)


class _Stream:
    """A stream of commits that is changed. ``aliases``: commit -> the mark, or id, of what stands for it."""

    def __init__(self, data: bytes, rows: dict[str, LogRow], rules: Rules) -> None:
        self._data = data
        self._at = 0
        self._rows = rows
        self._rules = rules
        self._marks: dict[bytes, bytes] = {}  # mark -> the mark or id that stands for it
        self.aliases: dict[str, bytes] = {}

    def changed(self) -> bytes:
        """Return the changed stream."""
        pieces = [b"feature done\n"]
        while self._at < len(self._data):
            line = self._line()
            if line.startswith(b"commit "):
                pieces += self._commit()
            elif line.startswith(b"reset "):
                self._skip_reset()
            elif line not in {b"", b"done"}:
                raise FabulaError("ERR_GIT", f"git fast-export wrote something unknown: {line[:80]!r}")
        return b"".join([*pieces, b"done\n"])

    def _line(self) -> bytes:
        end = self._data.find(b"\n", self._at)
        end = len(self._data) if end < 0 else end
        line = self._data[self._at : end]
        self._at = end + 1
        return line

    def _skip_reset(self) -> None:
        if self._data.startswith(b"from ", self._at):
            self._line()

    def _commit(self) -> list[bytes]:
        """Read one commit and return it changed, or nothing where it changes nothing any more."""
        mark = self._line().removeprefix(b"mark ")
        commit = self._line().removeprefix(b"original-oid ").decode()
        head, parents, message = [], [], b""
        while not (line := self._line()).startswith(b"data "):
            head.append(line)
        size = int(line[5:])
        message, self._at = self._data[self._at : self._at + size], self._at + size
        changes = []
        while self._at < len(self._data) and (line := self._line()) != b"":
            kind, _, rest = line.partition(b" ")
            if kind in {b"from", b"merge"}:
                parents.append(self._marks.get(rest, rest))
            else:
                changes.append(line)
        before = {touch.path: touch for touch in self._rows[commit].touches}
        kept = [change for line in changes if (change := self._change(line, before)) is not None]
        if changes and not kept and len(parents) == 1:
            self._marks[mark] = self.aliases[commit] = parents[0]
            return []
        self._marks[mark] = self.aliases[commit] = mark
        text = self._rules.message(commit, message)
        begin = [b"reset " + _REF] if not parents else []
        links = [b"%s %s" % (b"merge" if at else b"from", parent) for at, parent in enumerate(parents)]
        rows = [*begin, b"commit " + _REF, b"mark " + mark, *head, b"data %d" % len(text)]
        return [b"\n".join(rows), b"\n", text, b"\n", *(row + b"\n" for row in (*links, *kept)), b"\n"]

    def _change(self, line: bytes, before: dict[str, Touch]) -> bytes | None:
        """Return what becomes of a change of one path; ``None`` where nothing does."""
        kind, _, rest = line.partition(b" ")
        if kind == b"M":
            mode, blob, quoted = rest.split(b" ", 2)
        elif kind == b"D":
            mode, blob, quoted = b"", b"", rest
        else:
            raise FabulaError("ERR_GIT", f"git fast-export wrote something unknown: {line[:80]!r}")
        path = os.fsdecode(_unquoted(quoted))
        new = self._rules.becomes(path, blob.decode()) if blob else ""
        touch = before.get(path)
        if touch is not None and touch.new == blob.decode() and touch.old != touch.new:
            old = self._rules.becomes(path, touch.old) if touch.old else ""
            if old == new:
                return None
        return b"M %s %s %s" % (mode, new.encode(), quoted) if new else b"D " + quoted


def _unquoted(path: bytes) -> bytes:
    """Read a path that may be quoted as in C."""
    if not path.startswith(b'"'):
        return path

    def plain(match: re.Match[bytes]) -> bytes:
        code = match[1]
        return bytes([int(code, 8)]) if len(code) == 3 else _ESCAPES.get(code, code)

    return _QUOTED.sub(plain, path[1:-1])
