"""Tables of ``.fabula/state.db``: a fold of logs, deleted and folded anew at will.

It is a database of its own, which may be attached to the index's connection: a rebuild of the index never touches it.
Times are milliseconds since the epoch (UTC), ``null``: never. There are no lists of allowed kinds.
"""

from __future__ import annotations

from typing import Final

APPLICATION_ID: Final = 0x46426D73  # "FBms"
VERSION: Final = 1

SCHEMA: Final = """
create table meta(key text primary key, value) without rowid;

-- what was read of which log: up to where, and the digest of that part
create table sources(
  name text primary key,         -- relative to the corpus
  size integer not null, mtime_ns integer not null, file integer not null,
  offset integer not null, digest blob not null
) without rowid;

-- what the logs say, each entry once
create table entries(
  id text primary key, at integer not null, kind text not null,
  path text not null, target text not null, session text not null, relation text not null, verdict text not null
) without rowid;
create index entries_by_path on entries(path, at);
create index entries_by_target on entries(target) where kind = 'moved';
create index entries_by_kind on entries(kind) where kind in ('moved', 'corroborated', 'corroborated_name');
create table baselines(          -- what memhtml counted
  path text not null, accesses integer not null, reinforcements integer not null, outcome real not null,
  last_access integer, last_reinforced integer, at integer not null
);
create index baselines_by_path on baselines(path);

-- what it comes to
create table states(
  path text primary key,
  accesses integer not null, reinforcements integer not null, outcome real not null,
  last_access integer, last_reinforced integer, last_at integer not null, last_id text not null
) without rowid;
create table links(
  session text not null, path text not null, action text not null,
  first integer not null, last integer not null, times integer not null,
  primary key(session, path, action)
) without rowid;
create index links_by_path on links(path);

-- what was handed out on this machine
create table packs(
  id text primary key, at integer not null, reader text not null, session text not null, query text not null
) without rowid;
create table handed(
  path text not null, pack text not null references packs on delete cascade, place integer not null,
  primary key(path, pack)
) without rowid;
"""
