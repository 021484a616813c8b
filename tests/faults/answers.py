"""Everything that the record answers, in a form that two records over the same sources can be compared by."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from fabula.app.wiring import App
from fabula.kernel.clock import SystemClock
from fabula.kernel.ids import unpack_id
from fabula.record.map.schema import PASSAGE_COLUMNS
from fabula.record.vault.vault import Vault

if TYPE_CHECKING:
    from fabula.app.access import RecordAccess

WORDS = ("bucket", "locked", "nightly", "forget_idle", "sweep", "redis", "zirconium")

_QUESTIONS = {
    "records": "select r.uid, s.uid, t.uid, r.kind, r.role, r.time, r.flags, r.length "
    "from records r join sessions s on s.id = r.session_id left join threads t on t.id = r.thread_id",
    "threads": "select t.uid, s.uid, t.first_time, t.last_time, t.records, t.sidechain_records, t.characters "
    "from threads t join sessions s on s.id = t.session_id",
    "sessions": "select host, uid, kind, title, cwd, first_time, last_time, records from sessions",
    "touches": "select p.path, r.uid, operation from touches join paths p on p.id = path_id "
    "join records r on r.id = record_id",
    "failures": "select signature, r.uid, message, tool, w.uid from failures f join records r on r.id = f.record_id "
    "left join records w on w.id = resolved_by",
    "responses": "select key, model, input, output from responses",
    "terms": "select kind, term, t.uid, count from terms join threads t on t.id = thread_id",
    "citations": "select r.uid, ref from citations join records r on r.id = record_id",
}


def access_to(home: Path, user: Path) -> RecordAccess:
    """Return the way to a record in ``home`` over the transcripts in a user's home folder."""
    environment = {"FABULA_HOME": str(home), "HOME": str(user)}
    return App(environment=environment, cwd=user, user_home=user, clock=SystemClock()).record


def answers(access: RecordAccess) -> dict[str, list[Any]]:
    """Return every answer, by question: rows by their public ids, exact bytes, what words find."""
    reader = access.reader()
    found: dict[str, list[Any]] = {}
    for name, statement in _QUESTIONS.items():
        found[name] = sorted(json.dumps([_public(value) for value in row]) for row in reader.execute(statement))
    loader = access.loader()
    rows = loader.rows("1", ())
    found["links"] = sorted(f"{row.uid} {row.parent} {row.source}" for row in rows)
    found["bytes"] = sorted(f"{row.uid} {sha256(loader.raw(row)[0]).hexdigest()}" for row in rows)
    columns = " ".join(name for name, _ in PASSAGE_COLUMNS if name != "scope")
    for word in WORDS:
        matching = reader.execute(
            "select distinct t.uid from passages_fts f join passages p on p.id = f.rowid "
            "join threads t on t.id = p.thread_id where passages_fts match ?",
            (f"{{{columns}}}: {word}",),
        )
        found[f"word {word}"] = sorted(str(_public(row[0])) for row in matching)
    return found


def damage(home: Path) -> list[str]:
    """Return what the databases and the vault themselves complain about."""
    complaints = []
    for path in (home / "map.db", home / "vault" / "journal.db"):
        connection = apsw.Connection(str(path))
        complaints += [row[0] for row in connection.execute("pragma integrity_check") if row[0] != "ok"]
        connection.close()
    vault = Vault.open(home / "vault", SystemClock(), read_only=True)
    complaints += [str(each) for each in vault.verify()]
    vault.close()
    return complaints


def unsealed(home: Path) -> list[str]:
    """Return the transcripts whose newest generation in the vault is not byte for byte the file."""
    vault = Vault.open(home / "vault", SystemClock(), read_only=True)
    connection = apsw.Connection(str(home / "map.db"), flags=apsw.SQLITE_OPEN_READONLY)
    known = connection.execute("select path, vault_generation from files where generation < 0 and vanished_at is null")
    files = [(path, sealed) for path, sealed in known if Path(path).is_file()]  # rows of a database are no files
    wrong = [path for path, sealed in files if b"".join(vault.stream(sealed)) != Path(path).read_bytes()]
    connection.close()
    vault.close()
    return wrong


def _public(value: Any) -> Any:
    return unpack_id(value) if isinstance(value, bytes) else value
