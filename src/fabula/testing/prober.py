"""Reads everything that a home holds, in whatever form it holds it: to prove that something is not there.

Files byte by byte; packs frame by frame, decompressed, whatever the journal says of them; every table of every
database, the terms of every text index; whatever is compressed or encoded inside any of these.
"""

from __future__ import annotations

import re
import sys
from base64 import b64decode
from contextlib import suppress
from typing import TYPE_CHECKING

import apsw

from fabula.storage.packs import Frame, PackReader

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_SQLITE_MAGIC = b"SQLite format 3\0"
_BLANKS = re.compile(rb"(?:\s|\\[nrt])+")


def everything(home: Path, *, raw: bool = False) -> Iterator[tuple[str, bytes]]:
    """Yield (place, bytes) of all that is below ``home``.

    ``raw``: as one sees it who has the disk and no key: no pack is read as a pack, no database as a database.
    """
    databases = []
    for path in sorted(path for path in home.rglob("*") if path.is_file() or path.is_symlink()):
        place = path.relative_to(home).as_posix()
        yield f"{place}: name", place.encode()
        if path.is_symlink():
            continue
        data = path.read_bytes()
        yield place, data
        yield from _encoded(place, data)
        yield from _unpacked(f"{place}: compressed", data)
        if raw:
            continue
        if path.suffix == ".pack":
            yield from _frames(path, place)
        elif data.startswith(_SQLITE_MAGIC):
            databases.append((path, place))
    for path, place in databases:  # last: opening one may empty its log
        yield from _tables(path, place)


def found_in(home: Path, needles: Iterable[str]) -> list[str]:
    """Return where any of the texts stands, in any case and with any blanks between its words."""
    wanted = [(needle, _plain(needle.encode())) for needle in needles]
    found = []
    for place, data in everything(home):
        plain = _plain(data)
        found += [f"{needle!r} in {place}" for needle, form in wanted if form in plain]
    return found


def runs_of(text: str, words: int = 5) -> list[str]:
    """Return every run of so many words of a text."""
    parts = text.split()
    return [" ".join(parts[at : at + words]) for at in range(len(parts) - words + 1)]


def _plain(data: bytes) -> bytes:
    return _BLANKS.sub(b" ", data).lower()


def _unpacked(place: str, data: bytes, depth: int = 3) -> Iterator[tuple[str, bytes]]:
    at = data.find(_ZSTD_MAGIC)
    while at >= 0 and depth:
        try:
            content = zstd.ZstdDecompressor().decompress(data[at:])
        except (zstd.ZstdError, EOFError):
            content = b""
        if content:
            yield f"{place} at {at}", content
            yield from _encoded(f"{place} at {at}", content)
            yield from _unpacked(f"{place} at {at}", content, depth - 1)
        at = data.find(_ZSTD_MAGIC, at + 1)


def _encoded(place: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    for run in re.findall(rb"(?:[0-9a-f]{2}){12,}", data):
        yield f"{place}, in hexadecimal", bytes.fromhex(run.decode())
    for run in re.findall(rb"(?:[A-Za-z0-9+/]{4}){6,}", data):
        yield f"{place}, in base64", b64decode(run)


def _frames(path: Path, place: str) -> Iterator[tuple[str, bytes]]:
    pack = PackReader(path)
    try:
        for frame in pack.walk(pack.size()):
            if isinstance(frame, Frame):
                yield f"{place}: frame at {frame.offset}", frame.content
                yield from _encoded(f"{place}: frame at {frame.offset}", frame.content)
                yield from _unpacked(f"{place}: frame at {frame.offset}", frame.content)
    finally:
        pack.close()


def _tables(path: Path, place: str) -> Iterator[tuple[str, bytes]]:
    """Yield what a database holds; of a damaged one (a repair keeps it) as far as it can be read."""
    with suppress(apsw.CorruptError, apsw.NotADBError):
        yield from _rows(path, place)


def _rows(path: Path, place: str) -> Iterator[tuple[str, bytes]]:
    database = apsw.Connection(str(path))
    try:
        tables = "select name, coalesce(sql, '') from main.sqlite_schema where type='table'"
        for name, sql in database.execute(tables).fetchall():
            if "using fts5" in str(sql).lower():
                database.execute(f'create virtual table temp."{name}_words" using fts5vocab(main, "{name}", row)')
                for (term,) in database.execute(f'select term from temp."{name}_words"'):
                    yield f"{place}: term of {name}", str(term).encode()
                continue
            for row in database.execute(f'select * from main."{name}"'):
                for value in row:
                    data = value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
                    yield f"{place}: row of {name}", data
                    yield from _unpacked(f"{place}: row of {name}", data)
    finally:
        database.close()
