"""Commits that were forgotten: a clone that still has them must not bring them back by a merge.

Kept are their ids alone, which say nothing of what they held, in a file of ours in the git folder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.storage.files import write_atomic

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from fabula.storage.git.workshop import Workshop


def cast_out(shop: Workshop, commits: Iterable[str]) -> None:
    """Keep the ids of commits that are being forgotten, durably."""
    path = _path(shop)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, "".join(f"{commit}\n" for commit in sorted(_read(path) | set(commits))).encode())


def outcasts_of(shop: Workshop, theirs: str, ours: str) -> list[str]:
    """Return the forgotten commits that ``theirs`` leads to and ``ours`` does not. Raises ``ERR_GIT``."""
    known = _read(_path(shop))
    if not known:
        return []
    words = ("rev-list", theirs, *((f"^{ours}",) if ours else ()))
    return sorted(known & set(shop.git.run(*words).out.decode().split()))


def _path(shop: Workshop) -> Path:
    return shop.place.common / "fabula" / "forgotten"


def _read(path: Path) -> set[str]:
    try:
        return set(path.read_text(encoding="utf-8").split())
    except FileNotFoundError:
        return set()
