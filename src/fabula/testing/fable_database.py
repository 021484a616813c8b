"""A builder of a fable installation by its documented schema: the database, its settings, its vault of generations."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import apsw

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.testing.transcripts import ClaudeSession

_SCHEMA = """
create table meta(key text primary key, value text);
create table sessions(session_id text primary key, project text, title text, live_path text, indexed_at text,
  pinned integer default 0, tags text);
create table files(id integer primary key, path text unique, label text, generation integer, immutable integer,
  size integer, mtime real, session_id text, project text);
create table records(uuid text primary key, prompt_id text, parent_uuid text, type text, role text, ts text,
  file_id integer, lineno integer, offset integer, length integer, session_id text, ts_epoch real);
create table copies(uuid text, file_id integer, lineno integer, offset integer, length integer,
  primary key(uuid, file_id));
create table threads(prompt_id text primary key, first_ts text, last_ts text, turn_count integer, first_uuid text,
  leaf_uuid text, session_id text);
create virtual table fts using fts5(content, uuid unindexed, prompt_id unindexed, kind unindexed);
create table terms(term text, kind text, prompt_id text, count integer, score real,
  primary key(term, kind, prompt_id));
create table cards(prompt_id text primary key, title text, type text, topics text, decisions text, ideas text,
  features text, lessons text, gotchas text, open_questions text, directives text, files text, outcome text,
  summary text, est_tokens integer, source text, model text, created_at text, cues text, salient_entities text,
  card_gen integer default 1);
create table thread_tags(prompt_id text, family text, value text, score real, source text, model text,
  created_at text, primary key(prompt_id, family, value));
create table citations(from_uuid text, ref text, primary key(from_uuid, ref));
create table ops(id integer primary key, ts text, kind text, detail text);
create table facts(id integer primary key, fact text, project text, source text default 'user', created_at text,
  active integer default 1);
create table embeddings(prompt_id text, kind text, vec blob, dim integer, backend text, primary key(prompt_id, kind));
create table rules(id integer primary key, canonical_text text, display_text text, source text, scope text,
  project text, status text, occurrence_count integer);
"""
_WHEN = "2026-03-02T09:00:00Z"


class FableInstallation:
    """A folder as fable leaves it: ``fable.db`` in WAL mode, ``config.json``, ``vault/PROJECT/SESSION/vN-….jsonl``."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.vault = folder / "vault"
        self.database = folder / "fable.db"
        self.connection = apsw.Connection(str(self.database))
        self.connection.execute("pragma journal_mode=wal")
        self.connection.execute(_SCHEMA)

    def insert(self, table: str, **row: Any) -> None:
        """Add a row to any table; lists and objects become JSON text."""
        values = [json.dumps(value) if isinstance(value, list | dict) else value for value in row.values()]
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        self.connection.execute(f"insert into {table}({names}) values({marks})", values)

    def session(self, transcript: ClaudeSession, *, title: str = "", pinned: bool = False, tags: str = "") -> None:
        """Add a session, its file, its records and its threads."""
        self.insert(
            "sessions", session_id=transcript.id, project="harbor", title=title or None, pinned=int(pinned),
            tags=tags or None, indexed_at=_WHEN,
        )  # fmt: skip
        threads: dict[str, list[str]] = {}
        for record in transcript.records:
            uid, prompt = record.get("uuid"), record.get("promptId")
            if uid is None:
                continue
            self.insert("records", uuid=uid, prompt_id=prompt, session_id=transcript.id, ts_epoch=1_772_442_000.5)
            if prompt:
                threads.setdefault(prompt, []).append(uid)
        for prompt, uids in threads.items():
            self.insert(
                "threads", prompt_id=prompt, first_uuid=uids[0], leaf_uuid=uids[-1], session_id=transcript.id
            )  # fmt: skip

    def card(self, thread: str, title: str, **fields: Any) -> None:
        """Add a card of a thread."""
        self.insert("cards", prompt_id=thread, title=title, type="decision", created_at=_WHEN, **fields)

    def generation(self, transcript: ClaudeSession, number: int, *, data: bytes | None = None) -> Path:
        """Write a generation of a transcript into the vault: number 0 is raw, the others are pruned."""
        folder = self.vault / "harbor" / transcript.id
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / ("v0-raw.jsonl" if number == 0 else f"v{number}-pruned.jsonl")
        path.write_bytes(transcript.data() if data is None else data)
        return path

    def close(self) -> None:
        """Close the database, as fable does when it ends."""
        self.connection.close()
