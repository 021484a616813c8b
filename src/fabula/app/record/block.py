"""The verb ``record block``: the exact bytes of one record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fabula.kernel.values import frozen
from fabula.record.reading.exact import ExactBytes, as_written, exact

if TYPE_CHECKING:
    from fabula.app.access import Freshness
    from fabula.app.wiring import App


@frozen
class BlockRequest:
    """``uuid``: a record's id, or a beginning of it that is unique."""

    uuid: str


@frozen
class BlockResult:
    """A record's bytes (``data``, in ``encoding``) and where they were read: the live file, or the vault.

    Of a database's row they are the bytes of the column that holds the record.
    """

    id: str
    encoding: Literal["utf-8", "base64"]
    data: str
    length: int
    origin: str
    kind: str
    time: int | None
    fresh: Freshness

    def to_bytes(self) -> bytes:
        """Return the bytes."""
        return ExactBytes(self.id, self.encoding, self.data).to_bytes()


def block(app: App, request: BlockRequest) -> BlockResult:
    """Return a record's bytes. Raises ``ERR_NOT_FOUND``, ``ERR_AMBIGUOUS``, ``ERR_STALE``, ``ERR_VAULT_DAMAGED``."""
    fresh = app.refresh()
    loader = app.loader()
    row = loader.row(request.uuid)
    raw, origin = loader.raw(row)
    for (path,) in app.reader().execute("select path from files where id = ?", (row.file_id,)):
        raw = as_written(path, raw)
    found = exact(row.uid, raw)
    return BlockResult(row.uid, found.encoding, found.data, len(raw), origin, row.kind, row.time, fresh)
