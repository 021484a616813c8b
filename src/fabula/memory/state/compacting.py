"""Keeping the local log small: full files become few, without what adds nothing.

New files are written before old ones go: a stop between leaves lines twice, which counts once (an entry has an id).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.memory.state.entries import HANDED, LOCAL, Entry, encode, entries_in, without
from fabula.memory.state.sources import LOG, files_of
from fabula.memory.state.thinning import thinned
from fabula.storage.appending import CURRENT, log_files, set_aside
from fabula.storage.files import create_atomic, write_atomic
from fabula.storage.locks import FileLock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

FILES_MOST = 16  # small ones, set aside
SMALL_BYTES = 1024 * 1024
FILE_BYTES = 4 * 1024 * 1024
PACKS_KEPT = 10_000
LOCK_SECONDS = 20.0
_KEPT = "kept-"
_TRIES = 50


def lock_of(root: Path) -> FileLock:
    """Return the lock of those who rewrite local logs or export them; who appends needs none."""
    return FileLock(root / LOG / "keeper.lock", LOCK_SECONDS)


def set_aside_files(root: Path) -> list[Path]:
    """Set aside what is appended to now, and return all files that nobody appends to any more."""
    folder = root / LOG
    for _ in range(_TRIES):
        if set_aside(folder) or not (folder / CURRENT).exists():
            break
    return [path for path in log_files(folder) if path.name != CURRENT]


def is_crowded(root: Path) -> bool:
    """Say whether it is time to compact."""
    small = [path for path in log_files(root / LOG) if path.stat().st_size < SMALL_BYTES]
    return len(small) > FILES_MOST


def compact(root: Path) -> int:
    """Rewrite the set-aside files of the local log as few; return how many entries went. Raises ``ERR_LOCKED``."""
    with lock_of(root):
        files = [path for path in log_files(root / LOG) if path.name != CURRENT]
        local = entries_of(files)
        everything = entries_of(path for _, kind, path in files_of(root) if kind != "sidecar")
        ids = {entry.id for entry in thinned(everything)}
        kept = [entry for entry in newest_packs(local) if entry.id in ids or entry.kind == HANDED]
        replace_files(root, files, kept)
        return len(local) - len(kept)


def entries_of(files: Iterable[Path]) -> list[Entry]:
    """Return the entries of some log files, each id once."""
    found = {entry.id: entry for path in files for entry in entries_in(path.read_bytes())}
    return list(found.values())


def newest_packs(entries: Sequence[Entry]) -> list[Entry]:
    """Return entries by time, without the oldest packs that were handed out."""
    ordered = sorted(entries, key=lambda entry: entry.order)
    packs = [entry.id for entry in ordered if entry.kind in LOCAL]
    old = set(packs[:-PACKS_KEPT])
    return [entry for entry in ordered if entry.id not in old]


def replace_files(root: Path, files: Sequence[Path], kept: Sequence[Entry]) -> None:
    """Write entries into new files, then remove old ones."""
    taken = [int(path.name[len(_KEPT) : -6]) for path in files if path.name.startswith(_KEPT)]
    number = max(taken, default=0)
    for data in _parts(map(encode, kept)):
        number += 1
        create_atomic(root / LOG / f"{_KEPT}{number:06d}.jsonl", data)
    for path in files:
        path.unlink(missing_ok=True)


def _parts(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Join lines into files that are not too long."""
    part: list[bytes] = []
    size = 0
    for line in lines:
        if part and size + len(line) > FILE_BYTES:
            yield b"".join(part)
            part, size = [], 0
        part.append(line)
        size += len(line)
    if part:
        yield b"".join(part)


def forget_lines(root: Path, paths: Sequence[str], text: str = "") -> int:
    """Take lines that name some paths, or whose question holds a text, out of the local log; return their number."""
    gone = 0
    if not log_files(root / LOG):  # nothing was ever logged here, and no folder is made for that
        return gone
    with lock_of(root):
        for path in set_aside_files(root):
            data = path.read_bytes()
            rest = without(data, paths, text)
            if rest != data:
                gone += data.count(b"\n") - rest.count(b"\n")
                write_atomic(path, rest)
    return gone
