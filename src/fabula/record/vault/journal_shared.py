"""Parts of manifests that several generations share: a session that is rewritten often is described by them once.

A row of ``segments`` is either whole, or its layout is ``SHARED`` and its digests name a row of ``shared``. The view
``manifests`` gives both as if they were whole. Segments end where the content says so (see ``sealing``), so that the
same records give the same segments wherever they lie in a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.hashes import digest

if TYPE_CHECKING:
    import apsw

SHARED = b"\x02"
SHARED_FROM = 16  # pieces: a name costs as much as a digest, so fewer gain nothing

SharedRow = tuple[bytes, bytes, bytes]  # name, layout, digests


def shared(layout: bytes, digests: bytes) -> SharedRow:
    """Return the row for a part of a manifest; the same part has the same name."""
    name = digest(len(layout).to_bytes(8, "little") + layout + digests)
    return name, layout, digests


def unknown(db: apsw.Connection, rows: list[SharedRow]) -> list[SharedRow]:
    """Return those of the rows that the journal does not have yet."""
    if len(rows) > 1 and db.execute("select 1 from shared").fetchone() is None:
        return rows
    return [row for row in rows if db.execute("select 1 from shared where name=?", row[:1]).fetchone() is None]


def drop_unused(db: apsw.Connection) -> None:
    """Remove parts that no generation names any more; inside the transaction that took the last name away."""
    db.execute("delete from shared where name not in (select digests from segments where layout=?)", (SHARED,))
