"""The index's tables: a projection of the corpus, deleted and rebuilt at will.

Everything here is read out of the files of a corpus, except what is kept by the hash of what it is about: vectors (by
the hash of the text) and guessed edges (by the fact hashes of both ends). Those outlive a rebuild, a move and a revert.

Times are milliseconds since the epoch (UTC), ``null`` where a file says none. Blob ids are lower-case hexadecimal, as
git writes them. Columns named ``key`` are case folded: what is looked up. There are no lists of allowed values in SQL:
the format's vocabulary is checked when a file is read, and grows without a change of tables.
"""

from __future__ import annotations

from typing import Final

APPLICATION_ID: Final = 0x46426D69  # "FBmi"
#: Grows with every change of a table and with every change of what the projection writes. Another version is rebuilt.
VERSION: Final = 1

#: Columns of the full text, with the weight of a match in each. ``scope`` holds filter tokens and never scores:
#: ``k`` and the letters of the type, ``h`` and eight digits of the workspace's SHA-256 (see ``projection``).
TEXT_COLUMNS: Final[tuple[tuple[str, float], ...]] = (
    ("title", 4.0),
    ("claim", 6.0),
    ("body", 1.0),  # without the claim, which has its own column; with what is folded away
    ("facets", 2.0),  # names, values, citations
    ("names", 3.0),  # tags, entities, aliases, terms, abbreviations, the workspace, the words of the file's name
    ("parts", 1.0),  # words inside of words of all that: see ``search.identifiers.expand``
    ("scope", 0.0),
)
TOKENIZER: Final = "porter unicode61 remove_diacritics 2"
#: Archived memories have a table of their own: a search among those that hold does not pass over them.
LIVE_TEXT: Final = "live_text"
ARCHIVED_TEXT: Final = "archived_text"

# places.state
SERVED: Final = 0  # a memory; it has a row in ``files``
BROKEN: Final = 1  # it has a row in ``problems``
IGNORED: Final = 2  # git is told to ignore it
GONE: Final = 3  # in the tree, and taken out of the work tree

_TEXT = ", ".join(name for name, _ in TEXT_COLUMNS)

SCHEMA: Final = f"""
create table meta(key text primary key, value) without rowid;

-- what was seen of the corpus: by this is known what changed since
create table folders(
  id integer primary key,
  path text not null unique,     -- below one of the four buckets, or the bucket itself
  mtime_ns integer not null      -- 0: look at its names again
);
create table places(
  id integer primary key,        -- the file id everywhere else
  path text not null unique,
  folder_id integer not null references folders,
  tree_blob text,                -- at the watermark; null: it is in no commit
  blob text,                     -- of the bytes that were read; null: none were
  size integer, mtime_ns integer not null, ctime_ns integer,   -- mtime_ns 0: read it again
  state integer not null
);
create index places_by_folder on places(folder_id);
create index places_unsettled on places(id) where mtime_ns = 0;
create index places_broken on places(id) where state = 1;
create table problems(           -- files that are no memories; nobody is served from them
  file_id integer primary key references places on delete cascade,
  kind text not null,            -- broken, conflict, name, not_a_file, unreadable, failed
  message text not null,
  fix text not null,
  line integer, column integer
);

-- what the files say
create table files(
  id integer primary key references places on delete cascade,
  path text not null unique,
  blob text not null,
  dirty integer not null,        -- 1: the bytes in the work tree are not those of the watermark
  content_hash text not null, fact_hash text not null,         -- computed; neither is unique
  text_hash blob not null,       -- SHA-256 of title, claim and body, a line each: what vectors are kept by
  type text not null,
  title text not null,
  claim text not null,
  bucket text not null,
  workspace text,                -- projects/<this>/…, also of archived ones
  archived integer not null,     -- by the path
  origin text,                   -- the path that an archived file had
  confidence real not null, importance integer not null,
  author text, session text, prompt text, turn text,
  created integer not null, updated integer not null,
  event integer, valid_from integer, valid_until integer, archived_at integer,
  holds_from integer not null,   -- valid_from, else event, else created
  superseded_by text, reason text,
  reprieves integer not null, needs_revision integer not null,
  task_status text, due integer,
  frame_key text,
  words integer not null
);
create index files_by_fact on files(fact_hash);
create index files_by_text on files(text_hash);
create index files_by_content on files(content_hash);
create index files_live_type on files(type, path) where archived = 0;
create index files_live_workspace on files(workspace, path) where archived = 0;
create index files_live_holds on files(holds_from) where archived = 0;
create index files_live_updated on files(updated) where archived = 0;
create index files_live_frame on files(frame_key) where archived = 0 and frame_key is not null;
create index files_by_session on files(session) where session is not null;
create index files_by_origin on files(origin) where origin is not null;
create index files_by_end on files(valid_until) where valid_until is not null;
create index files_dirty on files(id) where dirty = 1;

create table texts(
  file_id integer primary key references files on delete cascade,
  body text not null,            -- the whole article on one line
  open_body text,                -- without what is folded away (details, asides): may be quoted; null: all of body
  disclosure text not null       -- claim, summaries, facets, citations: a line each
);
create table tags(
  file_id integer not null references files on delete cascade, tag text not null, key text not null,
  primary key(file_id, tag)
) without rowid;
create index tags_by_key on tags(key, file_id);
create table entities(
  file_id integer not null references files on delete cascade, type text not null, name text not null,
  key text not null,             -- type:name
  primary key(file_id, type, name)
) without rowid;
create index entities_by_key on entities(key, file_id);
create table aliases(
  file_id integer not null references files on delete cascade, alias text not null,
  primary key(file_id, alias)
) without rowid;
create table facets(
  file_id integer not null references files on delete cascade, name text not null, value text not null,
  number real,
  key text not null,             -- name=value
  primary key(file_id, name, value)
) without rowid;
create index facets_by_key on facets(key, file_id);
create index facets_by_number on facets(name, number) where number is not null;
create table citations(
  file_id integer not null references files on delete cascade, ordinal integer not null,
  text text not null,            -- what is cited or quoted; '' for a record that is cited as a whole
  address text,
  record text, digest text,      -- of a record, where one is cited (sha256:<hex>)
  primary key(file_id, ordinal)
) without rowid;
create index citations_by_record on citations(record) where record is not null;

create table edges(              -- written in files, and truth; the target need not exist
  source integer not null references files on delete cascade, relation text not null, target text not null,
  primary key(source, relation, target)
) without rowid;
create index edges_by_target on edges(target, relation);
create table guesses(            -- a machine's, between facts: nothing that judges a memory reads them
  source_fact text not null, relation text not null, target_fact text not null,
  strength real not null,
  primary key(source_fact, relation, target_fact)
) without rowid;
create index guesses_by_target on guesses(target_fact);

create table vectors(            -- kept by what they are vectors of; a space is a model in one of its versions
  space text not null,
  hash blob not null,            -- files.text_hash
  vector blob not null,          -- of all pieces of the text, one behind the other, as the space writes them
  primary key(space, hash)
) without rowid;

create table moves(              -- renames that nobody told us of, in the order in which they were seen
  id integer primary key autoincrement,
  old text not null, new text not null, seen integer not null
);

create virtual table {LIVE_TEXT} using fts5({_TEXT}, content='', contentless_delete=1, tokenize='{TOKENIZER}');
create virtual table {ARCHIVED_TEXT} using fts5({_TEXT}, content='', contentless_delete=1, tokenize='{TOKENIZER}');
"""
