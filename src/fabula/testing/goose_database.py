"""A builder of Goose's database of sessions (schemas 1 to 17), row by row, as a running client leaves it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import apsw

if TYPE_CHECKING:
    from pathlib import Path

_SESSIONS = (
    "id text primary key, {name} description text not null default '', {later} working_dir text not null,"
    " created_at timestamp, updated_at timestamp, extension_data text default '{{}}', total_tokens integer,"
    " input_tokens integer, output_tokens integer, accumulated_total_tokens integer,"
    " accumulated_input_tokens integer, accumulated_output_tokens integer, schedule_id text, recipe_json text {last}"
)
_NAME = "name text not null default '',"
_LATER = "user_set_name boolean default false, session_type text not null default 'user',"
_LAST = (
    ", user_recipe_values_json text, provider_name text, model_config_json text, goose_mode text default 'auto'"
    ", archived_at timestamp, project_id text, accumulated_cost real, parent_session_id text, parent_delegation text"
)
_SCHEMA = """
create table schema_version(version integer primary key, applied_at timestamp);
create table messages(id integer primary key autoincrement, message_id text, session_id text not null,
  role text not null, content_json text not null, created_timestamp integer not null, timestamp timestamp,
  tokens integer, metadata_json text);
create index idx_messages_session on messages(session_id);
"""
_LEDGER = """
create table usage_ledger(id integer primary key autoincrement, session_id text not null,
  created_timestamp integer not null, model text, input_tokens integer, output_tokens integer, total_tokens integer,
  cache_read_tokens integer, cache_write_tokens integer, cost real, cost_source text, is_compaction integer default 0);
"""
_BEGIN = 1_772_359_200


class GooseDatabase:
    """A database in WAL mode that its owner has open; every row is a second later than the one before."""

    def __init__(self, path: Path, *, ledger: bool = True) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.connection = apsw.Connection(str(path))
        self.connection.execute("pragma journal_mode=wal")
        columns = _SESSIONS.format(name=_NAME, later=_LATER, last=_LAST if ledger else "")
        self.connection.execute(f"create table sessions({columns});{_SCHEMA}{_LEDGER if ledger else ''}")
        self.clock = _BEGIN

    def session(self, key: str, name: str = "Ferry bells", *, folder: str = "/home/ada/lib", **columns: Any) -> None:
        """Add a session."""
        now = self._stamp()
        row = {"id": key, "name": name, "working_dir": folder, "created_at": now, "updated_at": now, **columns}
        marks = ",".join("?" * len(row))
        self.connection.execute(f"insert into sessions({','.join(row)}) values({marks})", tuple(row.values()))

    def message(
        self, session: str, role: str, *content: dict[str, Any], key: str | None = None, **metadata: bool
    ) -> None:
        """Add a message of ``content`` items."""
        shown = {"userVisible": True, "agentVisible": True, **metadata}
        stamp = self._stamp()
        self.connection.execute(
            "insert into messages(message_id, session_id, role, content_json, created_timestamp, metadata_json)"
            " values(?,?,?,?,?,?)",
            (key, session, role, json.dumps(content), self.clock, json.dumps(shown)),
        )
        self.connection.execute("update sessions set updated_at=? where id=?", (stamp, session))

    def bill(self, session: str, model: str, **tokens: int) -> None:
        """Add what one response cost."""
        columns = {"session_id": session, "created_timestamp": self.clock, "model": model, **tokens}
        marks = ",".join("?" * len(columns))
        self.connection.execute(
            f"insert into usage_ledger({','.join(columns)}) values({marks})", tuple(columns.values())
        )

    def close(self) -> None:
        """Close the database, as the client does when it ends."""
        self.connection.close()

    def _stamp(self) -> str:
        self.clock += 1
        minutes, seconds = divmod(self.clock - _BEGIN, 60)
        return f"2026-03-01 10:{minutes:02d}:{seconds:02d}"


def said(text: str) -> dict[str, Any]:
    """Return a text item."""
    return {"type": "text", "text": text}


def asked(key: str, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return a tool request."""
    call = {"status": "success", "value": {"name": tool, "arguments": arguments}}
    return {"type": "toolRequest", "id": key, "toolCall": call}


def answered(key: str, text: str, *, code: int = 0) -> dict[str, Any]:
    """Return a tool response; a ``code`` other than 0 is a shell's failure."""
    content = [{"type": "text", "text": text, "annotations": {"priority": 0.0}}]
    value = {"content": content, "structuredContent": {"stdout": text, "exit_code": code}, "isError": code != 0}
    return {"type": "toolResponse", "id": key, "toolResult": {"status": "success", "value": value}}
