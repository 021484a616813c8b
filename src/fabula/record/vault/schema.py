"""The tables of ``journal.db``: what makes packs of records into files again, and what people and agents added.

Times are milliseconds since the epoch. ``mark`` is a CRC-32 over the other columns of its row (see ``marks``): SQLite
finds a damaged page structure and a value of another type (tables are strict), not a flipped bit in a value.
``blobs``, ``frames`` and ``packs`` can be rebuilt from the packs; everything else here exists nowhere else.
"""

from __future__ import annotations

APPLICATION_ID = 0x46427661  # "FBva"
VERSION = 1

SCHEMA = """
create table meta(               -- owner: 16 bytes that all its packs carry; tombstone_key
  key text primary key, value blob not null, mark integer not null
) strict, without rowid;

create table sources(            -- the ledger: every file ever seen, kept after it vanished
  id integer primary key,
  host text not null, path any not null, kind text not null, session text not null,
  first_seen integer not null, last_seen integer not null,
  size integer not null, vanished_at integer,
  parent text not null,            -- session that spawned this one, or ''
  mark integer not null,
  unique(host, path)
) strict;
create index sources_by_session on sources(session);

create table generations(        -- one per time a file was seen for the first time or rewritten
  id integer primary key,
  source_id integer not null references sources,
  number integer not null,
  provenance text not null,      -- original, rewritten, slimmed
  immutable integer not null,
  length integer not null,       -- bytes sealed
  tail_digest blob,              -- digest of the last 4 KB sealed
  tail blob not null,            -- the unterminated last line that follows them
  begun_at integer not null, sealed_at integer not null,
  mark integer not null,
  unique(source_id, number)
) strict;

create table segments(           -- a generation's manifest, in order and without holes between rows
  generation_id integer not null references generations,
  offset integer not null, length integer not null,
  layout blob not null, digests blob not null,
  mark integer not null
) strict;
create unique index segments_by_offset on segments(generation_id, offset);

create table packs(
  id integer primary key, class integer not null,
  length integer not null,       -- valid bytes; what lies beyond was never committed
  closed integer not null        -- see OPEN, CLOSED, ENDED
) strict;
create table frames(
  id integer primary key, pack_id integer not null,
  offset integer not null, length integer not null, records integer not null, crc integer not null,
  content integer not null       -- bytes after decompression
) strict;
create index frames_by_pack on frames(pack_id, offset);
create table blobs(              -- where the record of this digest begins in its frame's content
  digest blob primary key, frame_id integer not null, start integer not null
) strict, without rowid;
create table loose(              -- records that do not fill a frame yet
  id integer primary key, digest blob not null unique, class integer not null, data blob not null
) strict;

create table tombstones(         -- keyed digests of what was forgotten: they tell nothing to who lacks the key
  print blob primary key, kind text not null, forgotten_at integer not null, mark integer not null
) strict, without rowid;
create table pins(
  kind text not null, ref text not null, pinned_at integer not null, mark integer not null,
  primary key(kind, ref)
) strict, without rowid;
create table titles(             -- names a person gave
  kind text not null, ref text not null, title text not null, given_at integer not null, mark integer not null,
  primary key(kind, ref)
) strict, without rowid;
create table cards(
  ref text primary key, card text not null, made_at integer not null, mark integer not null
) strict, without rowid;
create table citations(          -- handed out: must stay resolvable; a repeated one moves its last time
  uid text not null, digest blob not null, reader text not null,
  first_at integer not null, last_at integer not null,
  mark integer not null,
  primary key(uid, digest, reader)
) strict, without rowid;
"""

#: What came later: made in an older vault when it is opened for writing.
ADDED = """
create table shared(             -- parts of manifests that generations have in common: see ``journal_shared``
  name blob not null unique, layout blob not null, digests blob not null, mark integer not null
) strict;
create view manifests as
  select s.generation_id, s.offset, s.length,
    coalesce(h.layout, s.layout) as layout, coalesce(h.digests, s.digests) as digests
  from segments s left join shared h on s.layout = x'02' and h.name = s.digests;
"""

#: What a reader of an older vault takes for the view.
READ_AS = "create temp view manifests as select generation_id, offset, length, layout, digests from segments"

#: Tables that hold truth. Those that end with a ``mark`` have it over all their other columns.
TRUTH_TABLES = (
    "meta", "sources", "generations", "segments", "shared", "loose", "tombstones", "pins", "titles", "cards",
    "citations",
)  # fmt: skip

#: ``packs.closed``: still growing; ended by its footer; ended without one (a pack that lost bytes, or was read back).
OPEN, CLOSED, ENDED = 0, 1, 2
