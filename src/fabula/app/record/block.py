"""The verb ``record block``: the exact bytes of one record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fabula.kernel.errors import FabulaError
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
    """Return a record's bytes.

    Raises ``ERR_NOT_FOUND``, ``ERR_FORGOTTEN``, ``ERR_AMBIGUOUS``, ``ERR_STALE``, ``ERR_VAULT_DAMAGED``.
    """
    fresh = app.refresh()
    loader = app.loader()
    try:
        row = loader.row(request.uuid)
    except FabulaError as error:
        raise forgotten(app, request.uuid) or error from error
    raw, origin = loader.raw(row)
    for (path,) in app.reader().execute("select path from files where id = ?", (row.file_id,)):
        raw = as_written(path, raw)
    found = exact(row.uid, raw)
    return BlockResult(row.uid, found.encoding, found.data, len(raw), origin, row.kind, row.time, fresh)


def forgotten(app: App, uuid: str) -> FabulaError | None:
    """Return the error of a record that is missing because a person wanted it forgotten: citations lead here."""
    from fabula.record.vault.tombstones import UID, Tombstones

    vault = app.vault()
    tombstones = Tombstones.load(vault.journal) if vault is not None else None
    if tombstones is None or not tombstones.has(UID, uuid.encode("utf-8", "surrogatepass")):
        return None
    return FabulaError("ERR_FORGOTTEN", f"the record {uuid} was forgotten on purpose")
