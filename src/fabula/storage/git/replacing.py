"""Putting a history that was written anew in the place of the old one, and clearing the old one out of the repository.

The commit point is HEAD's branch, moved by :meth:`Turn.join` to a commit on top of the new history. Before it a list
of all other refs is written down; who opens the repository next drops the list if HEAD did not move, and completes
the replacing if it did. So a stop leaves the old history whole, or the new one.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from typing import TYPE_CHECKING

from fabula.kernel.values import frozen
from fabula.storage.files import sync_folder
from fabula.storage.git.durable import NewFiles

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.storage.git.workshop import Workshop

#: what git keeps beside its refs of commits that were
_TRACES = ("ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG", "MERGE_MSG", "SQUASH_MSG", "AUTO_MERGE", "gitk.cache")
_SECONDS = 3600.0
STASH = "refs/stash"


@frozen
class Replacing:
    """A replacing in the making: HEAD before it, what the commit after it follows, (ref, old id, new id) of all others.

    ``stash``: the lines of the stash's log, as they will be.
    """

    head: str
    follows: str
    refs: tuple[tuple[str, str, str], ...]
    stash: str = ""


def note(shop: Workshop, replacing: Replacing) -> None:
    """Write down, durably, what has to be done behind the commit point."""
    document = {
        "head": replacing.head, "follows": replacing.follows, "refs": [list(row) for row in replacing.refs],
        "stash": replacing.stash,
    }  # fmt: skip
    body = json.dumps(document, sort_keys=True).encode()
    path = _path(shop)
    torn = path.with_suffix(".new")
    torn.unlink(missing_ok=True)
    with NewFiles() as files:
        files.add(torn, sha256(body).hexdigest().encode() + b"\n" + body)
        files.sync()
    os.replace(torn, path)
    sync_folder(path.parent)


def is_pending(shop: Workshop) -> bool:
    """Say whether a replacing was begun and not ended."""
    return _path(shop).exists()


def finish(shop: Workshop) -> None:
    """Complete a replacing whose commit HEAD is, or forget that it was begun; our lock is held. May be repeated."""
    path = _path(shop)
    replacing = _read(path)
    if replacing is not None and _is_done(shop, replacing):
        _move_refs(shop, replacing)
        clear_old(shop)
    path.unlink(missing_ok=True)
    sync_folder(path.parent)


def clear_old(shop: Workshop) -> None:
    """Remove every trace of commits that no ref leads to: logs of refs, git's notes of them, packed and loose objects.

    Raises ``ERR_GIT``.
    """
    git = shop.git
    stash = _stash_log(shop)
    kept = stash.read_bytes() if stash.exists() else b""
    git.run("reflog", "expire", "--expire=all", "--expire-unreachable=all", "--all", limit=_SECONDS)
    if kept:
        stash.parent.mkdir(parents=True, exist_ok=True)
        stash.write_bytes(kept)
    for name in _TRACES:
        for folder in {shop.place.own, shop.place.common}:
            (folder / name).unlink(missing_ok=True)
    shop.reader.close()
    git.run("repack", "-a", "-d", "-q", limit=_SECONDS)
    git.run("prune", "--expire=now", limit=_SECONDS)
    graph = shop.place.common / "objects" / "info"
    for leftover in (graph / "commit-graph", graph / "commit-graphs"):
        if leftover.exists():
            git.run("commit-graph", "write", "--reachable", "--no-progress", limit=_SECONDS)
            break


def still_there(shop: Workshop, ids: frozenset[str]) -> tuple[str, ...]:
    """Return those of some objects that the repository holds, or borrows, still."""
    shop.reader.close()
    names = sorted(ids)
    return tuple(name for name, found in zip(names, shop.reader.each(names), strict=True) if found is not None)


def _is_done(shop: Workshop, replacing: Replacing) -> bool:
    head = shop.head()[0]
    if head in {"", replacing.head}:
        return False
    return shop.git.run("merge-base", "--is-ancestor", replacing.follows, head, allowed=(0, 1, 128)).status == 0


def _move_refs(shop: Workshop, replacing: Replacing) -> None:
    """Move all refs in one transaction; where someone moved one of them, the others each by itself."""
    rows = [f"update {name} {new} {old}\n" for name, old, new in replacing.refs if _now(shop, name) == old]
    if rows and shop.git.run("update-ref", "--stdin", stdin="".join(rows).encode(), allowed=(0, 1, 128)).status:
        for row in rows:
            shop.git.run("update-ref", "--stdin", stdin=row.encode(), allowed=(0, 1, 128))
    if replacing.stash:
        _stash_log(shop).write_bytes(os.fsencode(replacing.stash))


def _now(shop: Workshop, name: str) -> str:
    return shop.git.run("rev-parse", "--verify", "--quiet", name, allowed=(0, 1, 128)).out.decode().strip()


def _stash_log(shop: Workshop) -> Path:
    return shop.place.common / "logs" / "refs" / "stash"


def _path(shop: Workshop) -> Path:
    return shop.desk.folder / "replacing"


def _read(path: Path) -> Replacing | None:
    try:
        digest, _, body = path.read_bytes().partition(b"\n")
    except FileNotFoundError:
        return None
    if sha256(body).hexdigest().encode() != digest:
        return None
    document = json.loads(body)
    refs = tuple((name, old, new) for name, old, new in document["refs"])
    return Replacing(document["head"], document["follows"], refs, document["stash"])
