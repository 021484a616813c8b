"""The map's tables: derived from vault and sources, deleted and rebuilt at will.

Ids of hosts (uuids) are stored packed (16 bytes, see ``kernel.ids.pack_id``) or as text when they are none.
Times are milliseconds since the epoch. ``kind`` columns hold indexes into ``kernel.records.KINDS``.
"""

from __future__ import annotations

APPLICATION_ID = 0x46426D70  # "FBmp"
VERSION = 4

# records.flags
SIDECHAIN = 1  # a subagent's record
SDK = 2  # its session was spawned by a program
ABANDONED = 4  # the host says it was rewound, or the graph says a sibling replaced it
DERIVED_ID = 8  # the host gave it no id
FAILED = 16  # a tool result marked as an error
REWRITTEN = 32  # the best copy is a harness-rewritten one
SLIMMED = 64  # the best copy is a slimmed one
HAS_IMAGE = 128
UNSEARCHED = 256  # too long to be searched as a whole; still addressable
PROVISIONAL = 512  # its thread was guessed: an ancestor is not mapped yet

#: Columns of ``passages_fts``, with the weight of a match in each. ``scope`` holds filter tokens and never scores:
#: ``h<host>`` ``p<project id>`` ``s<session id>`` ``k<kind>`` ``x<tool name, letters and digits>``.
PASSAGE_COLUMNS: tuple[tuple[str, float], ...] = (
    ("prompt", 1.0),  # typed by a person, and tasks given to subagents
    ("reply", 0.6),  # the assistant's text and thoughts
    ("call", 0.5),  # tool names and arguments, bodies of edits included
    ("result", 0.35),  # tool output
    ("other", 0.3),  # titles, summaries, commands, notices worth finding
    ("scope", 0.0),
)

#: ``threads_fts`` holds the prose of a thread (prompts and replies) per scan that added to it, scoped alike.
THREAD_COLUMNS: tuple[tuple[str, float], ...] = (("prompt", 1.0), ("reply", 0.6), ("scope", 0.0))

#: Memory in which FTS5 gathers terms before it writes a segment: larger means fewer merges and a smaller index.
HASH_BYTES = 16_000_000

TOKENIZER = "porter unicode61 remove_diacritics 2"

SCHEMA = f"""
create table meta(key text primary key, value) without rowid;

create table projects(
  id integer primary key,
  key text not null unique,      -- remote URL, else the git common dir, else the working directory
  label text not null
);

create table sessions(
  id integer primary key,
  host text not null,
  uid not null,                  -- packed session id; a subagent's agent id
  project_id integer references projects,
  parent_id integer references sessions,   -- the session that spawned or was continued by this one
  kind text not null default 'main',       -- main, subagent, compaction, sdk, prompts
  title text not null default '',
  title_rank integer not null default 0,
  cwd text not null default '',
  branch text not null default '',
  first_time integer, last_time integer,
  records integer not null default 0,
  unique(host, uid)
);

create table folders(id integer primary key, path text not null unique);   -- with the separator at its end
create table file_kinds(
  id integer primary key,
  host text not null, kind text not null,
  provenance text not null,      -- original, rewritten, slimmed
  unique(host, kind, provenance)
);
create table file_rows(          -- what is written of a file; readers ask the view ``files``
  id integer primary key,
  folder_id integer not null references folders, name text not null,
  generation integer not null,   -- -1 live; N a sealed generation (of our vault or of a folder of generations)
  kind_id integer not null references file_kinds,
  session_id integer references sessions,
  immutable integer not null default 0,
  size integer not null, mtime_ns integer not null, ctime_ns integer not null, inode integer not null,
  scanned_ns integer not null,   -- when the stat was taken
  read_to integer not null default 0,      -- end of the last complete chunk
  tail_digest blob,              -- digest of the last 4 KB before read_to, of a file that grows at its end
  vault_generation integer,      -- generation id in the vault's journal
  state text,                    -- the normaliser's state, JSON
  accounting text,               -- the fields of kernel.records.Accounting in order, a JSON list
  error text,                    -- why it could not be read, else null
  vanished_at integer,
  waiting integer not null default 0,      -- bytes of an unterminated last line after read_to
  unique(folder_id, name, generation)
);
create view files as             -- left joins: SQLite leaves out those that a query does not need
  select f.id, d.path || f.name as path, f.generation, k.host, k.kind, f.session_id, k.provenance, f.immutable,
         f.size, f.mtime_ns, f.ctime_ns, f.inode, f.scanned_ns, f.read_to, f.tail_digest, f.vault_generation,
         f.state, f.accounting, f.error, f.vanished_at, f.waiting
    from file_rows f left join folders d on d.id = f.folder_id left join file_kinds k on k.id = f.kind_id;

create table threads(
  id integer primary key,
  uid not null unique,           -- packed prompt id, or a derived id
  session_id integer not null references sessions,
  first_time integer, last_time integer,
  first_record integer, last_record integer,
  records integer not null default 0,
  sidechain_records integer not null default 0,
  characters integer not null default 0    -- of prose: prompts, replies, thoughts
);
create index threads_by_session on threads(session_id);

create table records(
  id integer primary key,        -- ascending in the order of reading
  uid not null,
  session_id integer not null,
  thread_id integer,
  parent,                        -- id of the causal parent's row; its packed uid while it is not mapped; or null
  source,                        -- packed uid of the record with the answered call, 1 if it is the parent, or null
  file_id integer not null,
  offset integer not null,
  length integer not null,
  kind integer not null,
  role not null,                 -- index into kernel.records.ROLES, or a host's own word
  time integer,
  flags integer not null
);
create unique index records_by_uid on records(uid);
create index records_by_thread on records(thread_id);
create index records_provisional on records(id) where flags & 512;

create table copies(             -- every further copy of a record than the one its row points at
  record_id integer not null, file_id integer not null, offset integer not null, length integer not null,
  provenance integer not null,   -- index into kernel.records.PROVENANCES: the best first
  primary key(record_id, file_id, offset)
) without rowid;

create table spawns(             -- calls that started a subagent, by tool id and by agent id
  key text primary key, record_id integer not null
) without rowid;

create table paths(id integer primary key, path text not null unique);
create table touches(            -- tool calls on files: the raw material of file history
  record_id integer not null, path_id integer not null,
  operation text not null,       -- write, edit, patch, read, snapshot, delete
  primary key(path_id, record_id)
) without rowid;

create table failures(
  id integer primary key,
  signature text not null,       -- normalised error text
  record_id integer not null, thread_id integer, time integer,
  tool text not null default '',
  subject text not null default '',        -- what the failed call was about: the same test, command or file
  message text not null,         -- the line of the error as it was, at most 400 characters
  resolved_by integer            -- first later successful result of the same tool and subject in the session
);
create index failures_by_signature on failures(signature);
create unique index failures_by_record on failures(record_id);

create table responses(          -- one row per API response: usage counted once
  key integer primary key,       -- first 8 bytes of the SHA-256 of the response's identity
  session_id integer not null, time integer, model text not null,
  input integer not null, output integer not null, cache_read integer not null, cache_write integer not null
);

create table lexicon(id integer primary key, kind text not null, term text not null, unique(kind, term));
create table thread_terms(
  term_id integer not null, thread_id integer not null, count integer not null,
  primary key(term_id, thread_id)
) without rowid;
create view terms(kind, term, thread_id, count) as
  select l.kind, l.term, t.thread_id, t.count from thread_terms t join lexicon l on l.id = t.term_id;

create table citations(record_id integer not null, ref not null, primary key(record_id, ref)) without rowid;

create table origins(            -- threads of composed sessions
  thread_id integer primary key,
  uid not null                   -- packed id of the record of which its first record is a copy
);

create table passages(           -- consecutive records of one thread: the unit of ranking; rowid = passages_fts.rowid
  id integer primary key,
  thread_id integer not null, first_record integer not null, last_record integer not null,
  first_time integer, last_time integer
);
create index passages_by_thread on passages(thread_id);
create virtual table passages_fts using fts5(
  {", ".join(name for name, _ in PASSAGE_COLUMNS)}, content='', contentless_delete=1, tokenize='{TOKENIZER}');

create table thread_parts(       -- the prose one scan added to a thread; rowid = threads_fts.rowid
  id integer primary key, thread_id integer not null
);
create index thread_parts_by_thread on thread_parts(thread_id);
create virtual table threads_fts using fts5(
  {", ".join(name for name, _ in THREAD_COLUMNS)}, content='', contentless_delete=1, tokenize='{TOKENIZER}');

-- rowid = session id for the host's title, its negative for a title that a person gave
create virtual table titles_fts using fts5(title, content='', contentless_delete=1, tokenize='{TOKENIZER}');

insert into passages_fts(passages_fts, rank) values('hashsize', {HASH_BYTES});
insert into threads_fts(threads_fts, rank) values('hashsize', {HASH_BYTES});

-- titles come one by one, each as a segment of its own: few are merged at once
insert into titles_fts(titles_fts, rank) values('crisismerge', 4);

create table vectors(thread_id integer primary key, text_hash blob not null, vector blob not null);
insert into meta(key, value) values('vectors_changes', 0);  -- a reader that holds the vectors sees by it what it misses
create trigger vector_added after insert on vectors begin
  update meta set value = value + 1 where key = 'vectors_changes'; end;
create trigger vector_removed after delete on vectors begin
  update meta set value = value + 1 where key = 'vectors_changes'; end;
"""
