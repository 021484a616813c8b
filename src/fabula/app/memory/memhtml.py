"""The verb ``import memhtml``: another corpus of the same format taken into this one, in one commit."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.app.memory.taking_over import TakenResult, holders_in
from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from fabula.app.wiring import App
    from fabula.memory.importing.values import Skipped


@frozen
class MemhtmlRequest:
    """``source``: the other corpus's folder."""

    source: str
    dry_run: bool = False
    corpus: Path | None = None


def memhtml(app: App, request: MemhtmlRequest) -> TakenResult:
    """Import another corpus; it is only read, in its work tree as it is.

    Raises ``ERR_PATH`` where no memories are, or it is this corpus itself; ``ERR_NO_CORPUS``, and what commits raise.
    """
    from fabula.memory.importing.corpus import take_corpus

    source = app.cwd / Path(request.source).expanduser()
    access = app.memory_at(request.corpus)
    root = access.corpus().root
    if source.is_dir() and source.resolve() == root.resolve():
        raise FabulaError("ERR_PATH", f"{source} is the memory itself", "name the corpus that should be taken over")
    files, unread = _pages(source)
    if not files and not unread:
        raise FabulaError("ERR_PATH", f"{source} holds no memories", "name the folder of a corpus")
    holders, sidecar = holders_in(access), _sidecar(source)
    account = take_corpus(access.store(), files, sidecar, holders, subject=source.name, preview=request.dry_run)
    return TakenResult(
        str(source),
        not request.dry_run,
        account.commit,
        account.taken,
        account.known,
        [*unread, *account.skipped],
        list(dict.fromkeys((*account.notices, *access.notices))),
    )


def _pages(source: Path) -> tuple[dict[str, bytes], list[Skipped]]:
    """Return the bytes of each file at a memory's path. No link is followed."""
    from fabula.memory.format.bounds import LARGEST
    from fabula.memory.format.paths import is_indexed
    from fabula.memory.format.vocabulary import BUCKETS
    from fabula.memory.importing.values import Skipped

    files: dict[str, bytes] = {}
    unread = []
    for bucket in BUCKETS:
        for place, folders, names in os.walk(source / bucket):
            folders.sort()
            for name in names:
                path = Path(place, name)
                key = path.relative_to(source).as_posix()
                if not is_indexed(key) or path.is_symlink():
                    continue
                try:
                    if path.stat().st_size > LARGEST:
                        unread.append(Skipped(key, f"larger than {LARGEST:,} bytes"))
                    else:
                        files[key] = path.read_bytes()
                except OSError as error:
                    unread.append(Skipped(key, str(error.strerror)))
    return files, unread


def _sidecar(source: Path) -> str:
    from fabula.memory.state.sources import BYTES_LIMIT, SIDECAR

    path = source / SIDECAR
    try:
        if path.is_symlink() or path.stat().st_size > BYTES_LIMIT:
            return ""
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
