"""Git's objects: their ids, their bytes, and the two forms in which they are stored.

Formats: ``gitformat-pack(5)`` and "Git Internals – Git Objects" of the Pro Git book. Everything here is right for SHA-1
and SHA-256 repositories; loose objects may be added to any repository, however it keeps the rest.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from typing import TYPE_CHECKING

from fabula.kernel.values import frozen
from fabula.storage.git.values import FOLDER_MODE, Entry, Person

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

_PACK_KINDS = {"commit": 1, "tree": 2, "blob": 3}
_QUICK = 1  # zlib's level: git's own default of loose objects


@frozen
class Object:
    """An object with its id."""

    id: str
    kind: str
    data: bytes


def made(kind: str, data: bytes, algorithm: str) -> Object:
    """Return the object that some bytes are."""
    digest = hashlib.new(algorithm, usedforsecurity=False)
    digest.update(b"%s %d\0" % (kind.encode(), len(data)))
    digest.update(data)
    return Object(digest.hexdigest(), kind, data)


def tree_bytes(entries: Mapping[str, Entry]) -> bytes:
    """Write a tree: entries by name, folders sorted as if their names ended in ``/``."""

    def order(item: tuple[str, Entry]) -> bytes:
        name = os.fsencode(item[0])
        return name + b"/" if item[1].mode == FOLDER_MODE else name

    rows = sorted(entries.items(), key=order)
    return b"".join(
        b"%s %s\0%s" % (entry.mode.encode(), os.fsencode(name), bytes.fromhex(entry.id)) for name, entry in rows
    )


def tree_entries(data: bytes, id_bytes: int) -> dict[str, Entry]:
    """Read a tree: name -> entry."""
    entries: dict[str, Entry] = {}
    at = 0
    while at < len(data):
        space = data.index(b" ", at)
        end = data.index(b"\0", space)
        after = end + 1 + id_bytes
        mode = data[at:space].decode().lstrip("0")
        entries[os.fsdecode(data[space + 1 : end])] = Entry(mode, data[end + 1 : after].hex())
        at = after
    return entries


def commit_bytes(tree: str, parents: Iterable[str], people: tuple[Person, Person], at: str, message: str) -> bytes:
    """Write a commit; ``at`` is git's form of a moment, ``1700000000 +0000``."""
    lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
    for role, someone in zip(("author", "committer"), people, strict=True):
        lines.append(f"{role} {someone.name} <{someone.email}> {at}")
    return "\n".join((*lines, "", message)).encode()


def loose_bytes(thing: Object) -> bytes:
    """Return the contents of a file that holds one object."""
    return zlib.compress(b"%s %d\0" % (thing.kind.encode(), len(thing.data)) + thing.data, _QUICK)


def pack_bytes(things: Collection[Object], algorithm: str) -> Iterable[bytes]:
    """Yield a pack of whole objects, in the order given: header, objects, checksum."""
    digest = hashlib.new(algorithm, usedforsecurity=False)
    head = b"PACK" + (2).to_bytes(4, "big") + len(things).to_bytes(4, "big")
    digest.update(head)
    yield head
    for thing in things:
        piece = _pack_header(thing) + zlib.compress(thing.data, _QUICK)
        digest.update(piece)
        yield piece
    yield digest.digest()


def _pack_header(thing: Object) -> bytes:
    """Write kind and length: 4 bits of the length in the first byte, 7 in each further one."""
    rest = len(thing.data) >> 4
    header = [_PACK_KINDS[thing.kind] << 4 | len(thing.data) & 15]
    while rest:
        header[-1] |= 128
        header.append(rest & 127)
        rest >>= 7
    return bytes(header)
