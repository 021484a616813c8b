"""Has a file changed since the last scan? Pure decisions over two stats and a digest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from fabula.kernel.records import SourceFile
    from fabula.record.map.files import KnownFile, KnownStat

#: A file written within this time before the last scan may have changed again within one tick of its clock.
SETTLED_NS = 2_000_000_000

Change = Literal["new", "unchanged", "check", "grown", "rewritten"]


def is_appendable(path: str) -> bool:
    """Say whether a file grows at its end only, so that reading its tail is enough."""
    return path.endswith(".jsonl")


def is_plain(path: str) -> bool:
    """Say whether the bytes of the file on disk are the bytes that spans count (not compressed, not rows)."""
    return not path.endswith((".zst", ".gz")) and "#" not in path.rpartition("/")[2]


def compare(file: SourceFile, known: KnownStat | None) -> Change:
    """Decide from stats alone. ``check`` wants the digest of the tail, ``grown`` as well before it is believed."""
    if known is None:
        return "new"
    if (
        file.mtime_ns == known.mtime_ns
        and file.size == known.size
        and file.ctime_ns == known.ctime_ns
        and file.inode == known.inode
        and known.vanished_at is None
        and (known.immutable or file.mtime_ns + SETTLED_NS < known.scanned_ns or not is_plain(file.path))
    ):
        return "unchanged"
    if not is_appendable(file.path):
        return "check" if file.size == known.size and is_plain(file.path) else "rewritten"
    if file.size < known.read_to:
        return "rewritten"
    return "check" if file.size == known.size else "grown"


def after_digest(change: Change, size: int, known: KnownFile, *, same_tail: bool) -> Change:
    """Decide ``check`` and ``grown`` once it is known whether the bytes before ``read_to`` are the same."""
    if not same_tail:
        return "rewritten"
    if change == "check":
        return "unchanged" if size == known.read_to + known.waiting else "grown"
    return change
