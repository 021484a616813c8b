"""Git's index as bytes: looking entries up, and putting some in or taking some out, whatever else stands in it.

Format: ``gitformat-index(5)``, versions 2 and 3. Other forms (version 4, split, sparse) are git's own job: see
``index_program``. Pure: nothing here touches a disk.
"""

from __future__ import annotations

import hashlib
import os
from bisect import bisect_left
from typing import TYPE_CHECKING, Protocol

from fabula.kernel.values import frozen
from fabula.storage.git.values import Entry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabula.storage.git.trees import Edits

_HEAD = b"DIRC" + (2).to_bytes(4, "big") + bytes(4)  # of an empty index
_FIXED = 40  # bytes of an entry before its id: what stat said
_NAME_LENGTH = 0x0FFF
_STAGE = 0x3000
_EXTENDED = 0x4000
_SKIPPED = 0x4000  # of the extended flags: not wanted in the work tree
_INTENDED = 0x2000  # of the extended flags: announced by ``git add -N``, nothing staged
_KEPT = (b"REUC",)  # extensions that stay right when entries change; git makes the others anew


@frozen
class Staged:
    """What the index has at a path. ``skipped``: left out of the work tree; ``plain``: an ordinary staged file."""

    entry: Entry
    skipped: bool = False
    plain: bool = True


class Index(Protocol):
    """An index under its lock."""

    def find(self, path: str) -> Staged | None:
        """Return what is staged at a path."""
        ...

    def blocked(self, path: str) -> bool:
        """Say whether a file can not be at a path, because a folder of it is a file, or it is a folder."""
        ...

    def edited(self, edits: Edits) -> bytes:
        """Return the bytes of the index after some edits."""
        ...


class PlainIndex:
    """An index of version 2 or 3 in one file."""

    def __init__(self, data: bytes, id_bytes: int, names: list[bytes], starts: list[int], end: int) -> None:
        self.data = data
        self._id_bytes = id_bytes
        self._names = names
        self._starts = [*starts, end]

    def find(self, path: str) -> Staged | None:
        """Return what is staged at a path."""
        name = os.fsencode(path)
        at = bisect_left(self._names, name)
        if at == len(self._names) or self._names[at] != name:
            return None
        start = self._starts[at]
        mode = int.from_bytes(self.data[start + 24 : start + 28], "big")
        flags_at = start + _FIXED + self._id_bytes
        flags = int.from_bytes(self.data[flags_at : flags_at + 2], "big")
        more = int.from_bytes(self.data[flags_at + 2 : flags_at + 4], "big") if flags & _EXTENDED else 0
        entry = Entry(f"{mode:o}", self.data[start + _FIXED : flags_at].hex())
        return Staged(entry, bool(more & _SKIPPED), not flags & _STAGE and not more & _INTENDED)

    def blocked(self, path: str) -> bool:
        """Say whether a folder on the way is staged as a file, or the path as a folder."""
        name = os.fsencode(path)
        at = bisect_left(self._names, name + b"/")
        if at < len(self._names) and self._names[at].startswith(name + b"/"):
            return True
        return any(self._has(name[:slash]) for slash in range(len(name)) if name[slash : slash + 1] == b"/")

    def edited(self, edits: Edits) -> bytes:
        """Return the bytes of the index after some edits; every other entry keeps its bytes."""
        return self.after(edits).data

    def after(self, edits: Edits) -> PlainIndex:
        """Return the index as it is after some edits, without reading it anew."""
        pieces: list[bytes] = []
        names: list[bytes] = []
        starts: list[int] = []
        at = len(_HEAD)

        def keep(first: int, beyond: int) -> None:
            nonlocal at
            pieces.append(self.data[self._starts[first] : self._starts[beyond]])
            shift = at - self._starts[first]
            names.extend(self._names[first:beyond])
            starts.extend([start + shift for start in self._starts[first:beyond]])
            at += len(pieces[-1])

        done = 0
        for name, entry in sorted(((os.fsencode(path), entry) for path, entry in edits.items()), key=_by_name):
            found = bisect_left(self._names, name)
            keep(done, found)
            done = found
            while done < len(self._names) and self._names[done] == name:
                done += 1
            if entry is not None:
                pieces.append(_entry_bytes(name, entry))
                names.append(name)
                starts.append(at)
                at += len(pieces[-1])
        keep(done, len(self._names))
        pieces.extend(_kept_extensions(self.data, self._starts[-1], self._id_bytes))
        body = b"".join((self.data[:8], len(names).to_bytes(4, "big"), *pieces))
        return PlainIndex(body + _checksum(body, self._id_bytes), self._id_bytes, names, starts, at)

    def _has(self, name: bytes) -> bool:
        at = bisect_left(self._names, name)
        return at < len(self._names) and self._names[at] == name


def is_whole(data: bytes, id_bytes: int) -> bool:
    """Say whether an index has the checksum that it ends with; git may be told to write none."""
    return data[-id_bytes:] in {bytes(id_bytes), _checksum(data[:-id_bytes], id_bytes)}


def plain_index(data: bytes, id_bytes: int) -> PlainIndex | None:
    """Read an index; an empty one from no bytes. ``None`` when it is of a form that is git's own job."""
    if not data:
        data = _HEAD + _checksum(_HEAD, id_bytes)
    version, count = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:12], "big")
    if data[:4] != b"DIRC" or version not in {2, 3}:
        return None
    names: list[bytes] = []
    starts: list[int] = []
    at, fixed, find = len(_HEAD), _FIXED + id_bytes, data.find
    for _ in range(count):
        flags = data[at + fixed] << 8 | data[at + fixed + 1] if at + fixed + 2 <= len(data) else 0
        begin = at + fixed + (4 if flags & _EXTENDED else 2)
        length = flags & _NAME_LENGTH
        end = begin + length if length < _NAME_LENGTH else find(b"\0", begin + length)
        if end <= begin or data[end : end + 1] != b"\0":
            return None
        names.append(data[begin:end])
        starts.append(at)
        at += (end - at + 8) & ~7
    if at > len(data) - id_bytes or any(name[:1].islower() for name, _ in _extensions(data, at, id_bytes)):
        return None
    return PlainIndex(data, id_bytes, names, starts, at)


def _extensions(data: bytes, at: int, id_bytes: int) -> list[tuple[bytes, bytes]]:
    """Return the extensions as (signature, all its bytes)."""
    found = []
    while at + 8 <= len(data) - id_bytes:
        size = int.from_bytes(data[at + 4 : at + 8], "big")
        found.append((data[at : at + 4], data[at : at + 8 + size]))
        at += 8 + size
    return found


def _kept_extensions(data: bytes, at: int, id_bytes: int) -> list[bytes]:
    return [piece for name, piece in _extensions(data, at, id_bytes) if name in _KEPT]


def _by_name(item: tuple[bytes, Entry | None]) -> bytes:
    return item[0]


def _entry_bytes(name: bytes, entry: Entry) -> bytes:
    """Write an entry that says nothing of the file on disk: git compares it when it looks next."""
    stat = bytes(24) + int(entry.mode, 8).to_bytes(4, "big") + bytes(12)
    flags = min(len(name), _NAME_LENGTH).to_bytes(2, "big")
    body = stat + bytes.fromhex(entry.id) + flags + name
    return body + bytes(8 - len(body) % 8)


def _checksum(body: bytes, id_bytes: int) -> bytes:
    return hashlib.new("sha256" if id_bytes == 32 else "sha1", body, usedforsecurity=False).digest()


def changed_only(index: Index, edits: Mapping[str, tuple[Entry | None, Entry | None]]) -> Edits:
    """Return those of the edits, path -> (old, new), whose path is staged as it was before."""
    wanted: Edits = {}
    for path, (old, new) in edits.items():
        staged = index.find(path)
        if (staged.entry if staged is not None and staged.plain else None) == old:
            wanted[path] = new
    return wanted
