"""Which files a corpus's state comes from, and what is new in them. Reads; writes nothing."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Literal

from fabula.kernel.hashes import digest
from fabula.kernel.values import frozen
from fabula.memory.state.entries import whole_lines
from fabula.storage.appending import log_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOLDER: Final = ".fabula"
LOG: Final = f"{FOLDER}/log"
TRACKED: Final = f"{FOLDER}/state"
SIDECAR: Final = ".memhtml/state/access.jsonl"
BYTES_LIMIT: Final = 64 * 1024 * 1024  # of one file: what is longer is not read

Kind = Literal["local", "tracked", "sidecar"]


@frozen
class Seen:
    """A log as it was read: its stat, up to where, and the digest of that part."""

    size: int
    mtime_ns: int
    file: int
    offset: int
    digest: bytes


@frozen
class News:
    """What is new in a source. ``is_rewritten``: what was read before is not its beginning any more."""

    name: str
    kind: Kind
    data: bytes
    seen: Seen
    is_rewritten: bool


def files_of(root: Path) -> Iterator[tuple[str, Kind, Path]]:
    """Yield (name, kind, path) of every log of a corpus; links are not followed."""
    for path in log_files(root / LOG):
        yield f"{LOG}/{path.name}", "local", path
    for folder in _entries(root / TRACKED):
        if folder.is_dir(follow_symlinks=False):
            for file in _entries(folder.path):
                if file.name.endswith(".jsonl") and file.is_file(follow_symlinks=False):
                    yield f"{TRACKED}/{folder.name}/{file.name}", "tracked", root / TRACKED / folder.name / file.name
    sidecar = root / SIDECAR
    if sidecar.is_file() and not sidecar.is_symlink():
        yield SIDECAR, "sidecar", sidecar


def _entries(folder: Path | str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []


def news_of(name: str, kind: Kind, path: Path, seen: Seen | None) -> News | None:
    """Return what a file holds that was not read yet; ``None`` when nothing changed, or when it cannot be read."""
    with suppress(OSError):
        stat = path.stat(follow_symlinks=False)
        if stat.st_size > BYTES_LIMIT:
            return None
        if seen is not None and (stat.st_size, stat.st_mtime_ns, stat.st_ino) == (seen.size, seen.mtime_ns, seen.file):
            return None
        data = path.read_bytes()
        if kind == "sidecar":
            return News(name, kind, data, Seen(stat.st_size, stat.st_mtime_ns, stat.st_ino, 0, b""), seen is not None)
        end = whole_lines(data)
        goes_on = seen is not None and seen.offset <= end and digest(data[: seen.offset]) == seen.digest
        begin = seen.offset if seen is not None and goes_on else 0
        now = Seen(stat.st_size, stat.st_mtime_ns, stat.st_ino, end, digest(data[:end]))
        return News(name, kind, data[begin:end], now, seen is not None and not goes_on)
    return None
