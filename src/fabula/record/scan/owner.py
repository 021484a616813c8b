"""Which vault a map points into: a map of another vault, or of none, is made anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.record.vault.journal import Journal

if TYPE_CHECKING:
    from pathlib import Path

    import apsw

    from fabula.record.vault.vault import Vault

_KEY = "vault_owner"


def belongs_elsewhere(connection: apsw.Connection, vault_folder: Path) -> bool:
    """Say whether the map holds files that were not sealed in the vault of this folder, or that it lost since."""
    files, generation = connection.execute("select count(*), max(vault_generation) from file_rows").fetchone() or (
        0,
        None,
    )
    if not files:
        return False
    row = connection.execute("select value from meta where key=?", (_KEY,)).fetchone()
    owner, last = _owner(vault_folder)
    return row is None or row[0] != owner or (generation or 0) > last


def note_owner(connection: apsw.Connection, vault: Vault) -> None:
    """Write down into which vault the map points; the caller holds the transaction."""
    owner = vault.journal.meta("owner")
    connection.execute("insert or replace into meta(key,value) values(?,?)", (_KEY, owner))


def _owner(vault_folder: Path) -> tuple[bytes | None, int]:
    """Return whose vault it is, and the last generation that it knows. A damaged vault is no reason to drop a map."""
    try:
        journal = Journal.open(vault_folder, read_only=True)
    except FabulaError as error:
        if error.code != "ERR_NO_RECORD":
            raise
        return None, 0
    try:
        return journal.meta("owner"), journal.last_id("generations")
    finally:
        journal.close()
