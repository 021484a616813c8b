"""From records to rows: the mapper of one scan, fed file by file, writing batch by batch.

The caller holds the writer lock and the transaction. After a rollback the mapper must be thrown away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.kernel.hashes import digest
from fabula.kernel.ids import pack_id
from fabula.kernel.records import KINDS, ROLES
from fabula.record.containers.json_scan import WHOLE_LIMIT
from fabula.record.history.touches import touched
from fabula.record.ingest.caches import Names, SessionFacts, session_kind
from fabula.record.ingest.copies import FileFacts, Pointer, better, flags_with, move_pointer, pointer_of
from fabula.record.ingest.failures import FailureTracker
from fabula.record.ingest.fidelity import provenance_of
from fabula.record.ingest.known import KnownRecords
from fabula.record.ingest.late_titles import LateTitle, keep_waiting, waiting_titles
from fabula.record.ingest.passages import PassageBuilder
from fabula.record.ingest.rows import Rows, SharedRecords, ThreadFacts, write_rows
from fabula.record.ingest.terms import facets
from fabula.record.ingest.text import searchable
from fabula.record.ingest.threads import ThreadResolver
from fabula.record.map import schema
from fabula.record.reading.sentinels import strip

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from fabula.kernel.records import Provenance, Record, SourceFile, Usage
    from fabula.record.ingest.copies import CopyReader

_KIND_NUMBER = {name: number for number, name in enumerate(KINDS)}
_ROLE_NUMBER: dict[str, int | str] = {name: number for number, name in enumerate(ROLES)}
_PROVENANCE_FLAG: dict[Provenance, int] = {"original": 0, "rewritten": schema.REWRITTEN, "slimmed": schema.SLIMMED}
#: Files beside a transcript: when they were written says nothing of when the session was.
SIDE_FILES = frozenset(("file-backup", "tool-result", "meta"))
_PROSE = frozenset(("prompt", "task", "reply", "thought"))
_TOOLS = frozenset(("call", "result", "snapshot"))
_SPAWNING = frozenset(("Agent", "Task", "Workflow", "spawn_agent", "task"))
#: What a result's block says of the files that belong to it: a subagent's id, the path of an output kept on disk.
_JOINS = ("agentId", "persisted")


class Mapper:
    """Turns records into rows. One a scan; ``start_file`` before the records of each file."""

    def __init__(
        self,
        connection: apsw.Connection,
        project_of: Callable[[str], tuple[str, str]],
        read_copy: CopyReader,
        sealed_digest: Callable[[int, int, int], bytes | None],
    ) -> None:
        self.connection = connection
        self.names = Names(connection, project_of)
        self.read_copy = read_copy
        self.sealed_digest = sealed_digest
        self.bytes_at: Callable[[int, int], bytes] = _no_bytes  # of the chunk in hand
        self.rows = Rows()
        self.searchable_characters = 0
        self._next_record = _next_id(connection, "records")
        self._next_passage = _next_id(connection, "passages")
        self._next_part = _next_id(connection, "thread_parts")
        self._fresh = self._next_record == 1  # an empty map: no look-up can find anything
        self._known = KnownRecords(connection, self.rows, read_copy, fresh=self._fresh)
        self._passages = PassageBuilder()
        self._file: SourceFile | None = None
        self._file_id = 0
        self._session = 0
        self._sessions: dict[str, int] = {}
        self._files: dict[int, FileFacts] = {}
        self._adopted: set[int] = set()  # sessions whose parent is written down
        self._late_titles: list[LateTitle] = []

    def start_file(self, file: SourceFile, file_id: int, session: int, *, superseded: bool = False) -> None:
        """Go on to a file, whose row is ``file_id`` and whose session as a whole is ``session``.

        ``superseded``: a newer generation of it was mapped before, whose title and branch stay.
        """
        self._superseded = superseded
        self._file, self._file_id, self._session = file, file_id, session
        self._record_session = session
        self._timed = file.kind not in SIDE_FILES
        self._facts_of_file = FileFacts(file_id, file.path, file.generation)
        self._sessions = {file.session: session}
        self._known.start_file(file_id)
        earlier = None if self._fresh else self.connection
        self._failures = FailureTracker(self.rows, self._known.failed_call, self._known.held_call, earlier, session)
        known = self._known
        self._threads = ThreadResolver(
            known.thread_of_record, known.thread_of_spawn, self._open_thread, known.turn_before
        )

    def add(self, record: Record) -> None:
        """Map one record of the file in hand."""
        file = self._file
        assert file is not None
        if record.title and "<" in record.title:
            record.title = strip(record.title)[0].strip()
        session = self._record_session = self._sessions.get(record.session) or self._session_of(record)
        if self._superseded:
            self._leave_to_newer(record, session)
        uid, parent, source = record.uid, record.parent, record.source
        known = self._known
        packed = known.packed.get(uid) or known.pack(uid)
        met = known.row(packed)
        if met is not None:
            self._meet_again(record, met, session)
            return
        row = self._next_record
        self._next_record = row + 1
        known.seen[packed] = known.here[uid] = row
        thread, provisional = self._threads.resolve(record)
        flags = self._flags(record, file) | (schema.PROVISIONAL if provisional else 0)
        self.rows.records.append(
            (
                row, packed, session, thread,
                (known.here.get(parent) or known.row_or_uid(parent)) if parent else None,
                (1 if source == parent else known.pack(source)) if source else None,
                self._file_id, record.offset, record.length, _KIND_NUMBER[record.kind],
                _ROLE_NUMBER.get(record.role, record.role), record.time, flags,
            )
        )  # fmt: skip
        if record.title and record.source:
            self._late_titles.append(LateTitle(record.source, record.title, record.title_rank))
            record.title = ""
        facts = self.rows.sessions.get(session) or self._facts(session)
        facts.learn(record, record.time if self._timed else None)
        if record.usage is not None:
            self._bill(record.usage, session, record.time)
        if record.rewinds_to:
            self._rewind(record.rewinds_to, row)
        if record.parent_session:
            self._adopt(record, session)
        self._derive(record, row, thread, session)

    def end_file(self) -> None:
        """Finish what is open of the file in hand."""
        self._passages.flush()

    def finish(self) -> None:
        """Give titles that name a record to the session that holds it, now that every file was read."""
        waited = waiting_titles(self.connection)
        waiting = []
        for late in [*waited, *self._late_titles]:
            row = self._known.row(pack_id(late.leaf))
            if row is None:
                waiting.append(late)
                continue
            facts = self._facts(pointer_of(self.connection, self.rows, row).session)
            if late.rank >= facts.title_rank:
                facts.title, facts.title_rank = late.title, late.rank
        if waiting != waited:
            keep_waiting(self.connection, waiting)
        self._late_titles.clear()

    def write(self) -> None:
        """Write the batch collected so far."""
        self._passages.flush()
        self._finish_text()
        for session in self.rows.sessions:
            self._scope(session)  # also of sessions that only repeat others' records: they have a project too
        self.names.write()
        write_rows(self.connection, self.rows)
        self.rows = self._known.rows = Rows()
        if self._file is not None:
            self._failures.rows = self.rows

    # ── a record met again ───────────────────────────────────────────

    def _meet_again(self, record: Record, row: int, session: int) -> None:
        known = pointer_of(self.connection, self.rows, row)
        self._threads.members[record.uid] = known.thread
        if not record.sidechain and known.thread is not None and record.kind != "title":
            self._threads.current = known.thread
        facts = self._facts(session)
        if record.title and record.title_rank >= facts.title_rank:
            facts.title, facts.title_rank = record.title, record.title_rank
        facts.see(record.time)
        facts.cwd = facts.cwd or record.cwd
        facts.branch = facts.branch or record.branch
        if record.parent_session:
            self._adopt(record, session)
        if known.session != session:
            shared = self.rows.shared.setdefault((session, known.session), SharedRecords())
            shared.rows.append(row)
            if record.usage is not None:
                shared.responses.add(record.usage.response)
        if (known.file_id, known.offset) == (self._file_id, record.offset) or not record.has_id:
            return
        assert self._file is not None
        provenance = provenance_of(record, self._file.provenance)
        if better(record, provenance, self._facts_of_file, known, self._file_facts(known.file_id), self.read_copy):
            self._repoint(record, known, provenance)
        elif self._file_facts(known.file_id).path != self._file.path:
            self.rows.copies.append((row, self._file_id, record.offset, record.length, provenance))

    def _repoint(self, record: Record, known: Pointer, provenance: Provenance) -> None:
        same_file = self._file_facts(known.file_id).path == self._facts_of_file.path
        if not same_file:
            self.rows.copies.append((known.row, known.file_id, known.offset, known.length, known.provenance))
        flags = flags_with(known.flags, provenance)
        changed = same_file and self._says_other(record, known)
        if changed:
            assert self._file is not None
            flags |= self._flags(record, self._file) & (schema.FAILED | schema.HAS_IMAGE)
        at = Pointer(known.row, known.session, known.thread, self._file_id, record.offset, record.length, flags)
        move_pointer(self.connection, self.rows, at)
        if known.provenance != provenance or changed:  # what it says now is searched as well as what it said
            self._derive(record, known.row, known.thread, known.session, again=True)

    def _says_other(self, record: Record, known: Pointer) -> bool:
        """Say whether a record was rewritten in place: a database's row, a document's element, an edited line."""
        sealed = self.sealed_digest(known.file_id, known.offset, known.length)
        if record.length == known.length and (
            sealed is None or sealed == digest(self.bytes_at(record.offset, record.length))
        ):
            return False
        before = self.read_copy(known.file_id, known.offset, known.length)
        return before is None or before.blocks != record.blocks or before.title != record.title

    def _file_facts(self, file_id: int) -> FileFacts:
        if file_id == self._file_id:
            return self._facts_of_file
        known = self._files.get(file_id)
        if known is None:
            path, generation = self.connection.execute(
                "select path, generation from files where id=?", (file_id,)
            ).fetchone() or ("", -1)
            known = self._files[file_id] = FileFacts(file_id, path, generation)
        return known

    # ── one record ───────────────────────────────────────────────────

    def _derive(self, record: Record, row: int, thread: int | None, session: int, *, again: bool = False) -> None:
        text = searchable(record)
        if thread is not None:
            facts = self.rows.threads.get(thread)
            if facts is None:
                facts = self.rows.threads[thread] = ThreadFacts(session, row, row)
            if not again:
                facts.learn(record, row, timed=self._timed)
            if facts.owner is None and not record.sidechain:
                facts.owner = session
            if record.made_from:
                self.rows.origins.setdefault(thread, pack_id(record.made_from))
            if text is not None and text.characters:
                self._passages.add(record, row, thread, session, text)
                self.searchable_characters += text.characters
                if text.prompt:
                    facts.prompt.append(text.prompt)
                if text.reply:
                    facts.reply.append(text.reply)
                    if record.kind != "thought":
                        facts.spoken.append(text.reply)
        if text is not None and text.citations:
            self.rows.citations += [(row, pack_id(reference)) for reference in text.citations]
        if (record.kind in _TOOLS or len(record.blocks) > 1) and not record.made_from:
            self._tools(record, row, thread)

    def _tools(self, record: Record, row: int, thread: int | None) -> None:
        if record.kind != "result":
            self.rows.touches += [(row, self.names.path(path), done) for path, done in touched(record).items()]
        for block in record.blocks:
            if block.kind == "call":
                if block.tool in _SPAWNING and block.tool_id:
                    self.rows.spawns[block.tool_id] = row
                self._failures.call(block)
            elif block.kind == "result":
                if block.input:
                    self._joined(block.input, row)
                self._failures.result(block, row, record.source or record.parent, thread, record.time)

    def _joined(self, said: dict[str, Any], row: int) -> None:
        for name in _JOINS:
            key = said.get(name)
            if isinstance(key, str) and key:
                self.rows.spawns[key] = row

    def _flags(self, record: Record, file: SourceFile) -> int:
        flags = schema.SIDECHAIN if record.sidechain else 0
        if record.sdk or not record.live or not record.has_id or record.length > WHOLE_LIMIT:
            flags |= schema.SDK if record.sdk else 0
            flags |= 0 if record.live else schema.ABANDONED
            flags |= 0 if record.has_id else schema.DERIVED_ID
            flags |= schema.UNSEARCHED if record.length > WHOLE_LIMIT else 0
        provenance = provenance_of(record, file.provenance)
        if provenance != "original":
            flags |= _PROVENANCE_FLAG[provenance]
        for block in record.blocks:
            if block.failed:
                flags |= schema.FAILED
            if block.images or block.kind == "image":
                flags |= schema.HAS_IMAGE
        return flags

    def _bill(self, usage: Usage, session: int, time: int | None) -> None:
        known = self.rows.responses.get(usage.response)
        if known is None or _tokens(usage) > _tokens(known[2]):
            self.rows.responses[usage.response] = (session, time, usage)

    def _rewind(self, uid: str, row: int) -> None:
        """The host takes back a record of this file and all after it, up to ``row``."""
        first = self._known.row(self._known.pack(uid))
        if first is None:
            return
        self.connection.execute(
            f"update records set flags=flags|{schema.ABANDONED} where file_id=? and id>=? and id<?",
            (self._file_id, first, row),
        )
        rows = self.rows.records
        for index, values in enumerate(rows):
            if values[6] == self._file_id and first <= int(str(values[0])) < row:
                rows[index] = (*values[:12], int(str(values[12])) | schema.ABANDONED)

    def _adopt(self, record: Record, session: int) -> None:
        """A record names the session that its own was forked from or spawned by."""
        if session in self._adopted:
            return
        self._adopted.add(session)
        assert self._file is not None
        parent = self.names.session(self._file.host, record.parent_session)
        if parent != session:
            self.connection.execute(
                "update sessions set parent_id=?, kind=iif(?, 'subagent', kind) where id=? and parent_id is null",
                (parent, record.sidechain, session),
            )

    # ── ids ──────────────────────────────────────────────────────────

    def _session_of(self, record: Record) -> int:
        known = self._sessions.get(record.session)
        if known is None:
            file = self._file
            assert file is not None
            kind = "sdk" if record.sdk else session_kind(file) if file.kind == "history" else "main"
            known = self.names.session(file.host, record.session, kind=kind) if record.session else self._session
            self._sessions[record.session] = known
        return known

    def _leave_to_newer(self, record: Record, session: int) -> None:
        if not record.title and not record.branch:
            return
        facts = self._facts(session)
        title, rank, branch = self.connection.execute(
            "select title, title_rank, branch from sessions where id=?", (session,)
        ).fetchone() or ("", 0, "")
        if (title and rank >= record.title_rank) or (facts.title and facts.title_rank >= record.title_rank):
            record.title = ""
        if branch or facts.branch:
            record.branch = ""

    def _facts(self, session: int) -> SessionFacts:
        facts = self.rows.sessions.get(session)
        if facts is None:
            facts = self.rows.sessions[session] = SessionFacts(session)
        return facts

    def _open_thread(self, uid: str) -> int:
        return self.names.thread(uid, self._record_session)

    # ── text ─────────────────────────────────────────────────────────

    def _finish_text(self) -> None:
        rows = self.rows
        for passage in self._passages.take():
            rows.passages.append((self._next_passage, passage))
            self._next_passage += 1
            self._scope(passage.session)
        for thread, facts in sorted(rows.threads.items()):
            if not facts.prompt and not facts.reply:
                continue
            prompt, reply = "\n".join(facts.prompt), "\n".join(facts.reply)
            rows.parts.append((self._next_part, thread, prompt, reply, self._scope(facts.session)))
            self._next_part += 1
            found = facets("\n".join([*facts.prompt, *facts.spoken]))
            rows.terms += [(self.names.term(kind, term), thread, count) for kind, term, count in found]

    def _scope(self, session: int) -> str:
        scope = self.rows.scopes.get(session)
        if scope is None:
            host, project, cwd = self.connection.execute(
                "select host, project_id, cwd from sessions where id=?", (session,)
            ).fetchone() or ("", None, "")
            if project is None:
                facts = self.rows.sessions.get(session)
                project = self.names.project(cwd or (facts.cwd if facts else ""))
                self.connection.execute("update sessions set project_id=? where id=?", (project, session))
            scope = self.rows.scopes[session] = f"h{host} p{project} s{session}"
        return scope


def _no_bytes(_offset: int, _length: int) -> bytes:
    return b""


def _tokens(usage: Usage) -> int:
    return usage.input + usage.output + usage.cache_read + usage.cache_write


def _next_id(connection: apsw.Connection, table: str) -> int:
    row = connection.execute(f"select coalesce(max(id),0)+1 from {table}").fetchone()
    return int(row[0]) if row else 1
