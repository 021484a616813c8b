"""Reading a fable installation: its database, read-only, and the folders of its vault.

The tables are those of its documented schema. Nothing is written beside the database: see ``containers.rows``.
"""

from __future__ import annotations

import json
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from fabula.kernel.clock import parse_time
from fabula.kernel.errors import FabulaError
from fabula.kernel.values import define, field, frozen
from fabula.record.containers.rows import as_os_error, foreign_reader, select_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    import apsw

    from fabula.record.containers.rows import Row

DATABASE = "fable.db"
#: What every database of fable has; another one is none of its.
_MUST_HAVE = frozenset(("sessions", "records", "threads"))
#: Tables that are made from transcripts, and made anew here.
DERIVED = frozenset(
    ("files", "records", "copies", "threads", "fts", "terms", "embeddings", "ner_entities", "gnodes", "edges",
     "rule_vecs")
)  # fmt: skip
_DERIVED_PREFIXES = ("fts_", "sqlite_")
#: Tables about fable's own work and settings.
LOGS = frozenset(("meta", "ops", "card_attempts", "scout_fires", "tasks_meta", "task_meta"))
#: Tables whose rows find a place of their own.
PLACED = ("sessions", "cards", "thread_tags", "citations")


@frozen
class Installation:
    """Where a fable installation lies: its database, and its folders of generations."""

    database: Path
    vaults: tuple[Path, ...]


@define
class Tables:
    """What the database holds: rows by table, and how many rows stand in tables that are not read."""

    rows: dict[str, list[Row]] = field(default_factory=dict)
    derived: dict[str, int] = field(default_factory=dict)
    logs: dict[str, int] = field(default_factory=dict)
    first_records: dict[str, str] = field(default_factory=dict)  # thread -> uid of the record that it begins with
    times: dict[str, int] = field(default_factory=dict)  # uid of a record that cites -> when it was written (ms)


def locate(given: Path, vaults: tuple[Path, ...] = ()) -> Installation:
    """Find an installation by its database or its folder. Raises ``ERR_PATH``.

    The vault is what its ``config.json`` names, with further folders of backups, else ``vault`` beside the database.
    """
    database = given / DATABASE if given.is_dir() else given
    if not database.is_file():
        raise FabulaError(
            "ERR_PATH", f"{given} holds no {DATABASE}" if given.is_dir() else f"{given} is no file",
            "fabula import fable DB|DIR",
        )  # fmt: skip
    if not vaults:
        settings = _settings(database.parent / "config.json")
        named = [settings.get("vault") or str(database.parent / "vault"), *_texts(settings.get("backup_roots"))]
        folders = [Path(name).expanduser() for name in named if isinstance(name, str) and name]
        vaults = tuple(folder for folder in dict.fromkeys(folders) if folder.is_dir())
    for folder in vaults:
        if not folder.is_dir():
            raise FabulaError("ERR_PATH", f"{folder} is not a folder", "fabula import fable DB --vault DIR")
    return Installation(database, vaults)


def read_tables(database: Path) -> Tables:
    """Read what is not derived. Raises ``ERR_IMPORT`` for a database that is damaged, or none of fable's."""
    try:
        with foreign_reader(str(database)) as connection, as_os_error(str(database)):
            names = [
                row["name"] for row in select_rows(connection, "select name from sqlite_schema where type='table'")
            ]
            missing = sorted(_MUST_HAVE.difference(map(str, names)))
            if missing:
                raise FabulaError("ERR_IMPORT", f"{database} is no database of fable: it has no table {missing[0]}")
            return _read(connection, sorted(map(str, names)))
    except OSError as error:
        saved = f"sqlite3 {quote(str(database))} .recover | sqlite3 recovered.db && fabula import fable recovered.db"
        raise FabulaError("ERR_IMPORT", f"{database} cannot be read: {error}", saved) from error


def _read(connection: apsw.Connection, names: list[str]) -> Tables:
    found = Tables()
    for name in names:
        if name in DERIVED or name.startswith(_DERIVED_PREFIXES):
            if not name.startswith(_DERIVED_PREFIXES):  # shadows of the text index hold no rows of their own
                found.derived[name] = _count(connection, name, names)
        elif name in LOGS:
            found.logs[name] = _count(connection, name)
        else:
            found.rows[name] = list(select_rows(connection, f"select * from {_quoted(name)}"))
    if found.rows.get("citations"):
        _read_cited(connection, found)
    return found


def _read_cited(connection: apsw.Connection, found: Tables) -> None:
    """Read with which record each cited thread begins, and when it was cited."""
    for row in select_rows(
        connection, "select prompt_id, first_uuid from threads where prompt_id in (select ref from citations)"
    ):
        if isinstance(row["prompt_id"], str) and isinstance(row["first_uuid"], str):
            found.first_records[row["prompt_id"]] = row["first_uuid"]
    for row in select_rows(
        connection, "select uuid, ts_epoch from records where uuid in (select from_uuid from citations)"
    ):
        uid, when = row["uuid"], parse_time(row["ts_epoch"])
        if isinstance(uid, str) and when:
            found.times[uid] = when


def _count(connection: apsw.Connection, name: str, names: Collection[str] = ()) -> int:
    """Count rows; those of a text index in the table beside it, since its tokenizer need not be here."""
    beside = f"{name}_docsize"
    for (count,) in connection.execute(f"select count(*) from {_quoted(beside if beside in names else name)}"):
        return int(count)
    return 0


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _settings(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _texts(value: Any) -> Iterator[str]:
    yield from (item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
