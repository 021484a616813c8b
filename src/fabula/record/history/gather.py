"""From the map's touches of a file to events: calls, what their results say, and backups, in order of effect."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fabula.kernel.clock import parse_time
from fabula.kernel.errors import FabulaError
from fabula.kernel.ids import unpack_id
from fabula.kernel.records import KINDS
from fabula.record.history.actions import actions
from fabula.record.history.replay import Event, Turn
from fabula.record.history.touches import snapshot_backups

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import apsw

    from fabula.kernel.records import Block
    from fabula.record.loader import Loaded, Loader, Row

_BATCH = 400
_RESULT = KINDS.index("result")


class Gatherer:
    """Reads the events of files through one map connection; what cannot be read is left out and counted."""

    def __init__(self, connection: apsw.Connection, loader: Loader) -> None:
        self.connection = connection
        self._loader = loader
        self._threads: dict[int, str] = {}
        self._sessions: dict[int, tuple[str, str, str]] = {}
        self._backups: dict[str, dict[str, int]] | None = None
        self.unreadable: list[tuple[str, str]] = []

    def events(self, paths: Mapping[int, str]) -> list[Event]:
        """Return the events of a file's paths (the map's row: path) in the order in which they took effect."""
        touched = [int(row) for (row,) in self.connection.execute(
            f"select distinct record_id from touches where path_id in ({_marks(paths)}) order by record_id",
            tuple(paths))]  # fmt: skip
        rows = [row for part in _parts(touched) for row in self._loader.rows(f"id in ({_marks(part)})", part)]
        answers = self._answers(rows)
        names = frozenset(paths.values())
        placed: list[tuple[Row, Event]] = []
        for row in rows:
            for loaded in self._load(row):
                placed += self._events_of(loaded, names, answers.get(row.uid, []))
        return [event for _, event in in_order_of_effect(placed)]

    # ── calls ────────────────────────────────────────────────────────

    def _events_of(self, loaded: Loaded, paths: frozenset[str], answers: Sequence[Row]) -> Iterator[tuple[Row, Event]]:
        record, row = loaded.record, loaded.row
        if record.kind == "snapshot":
            for path in paths:
                event = self._backup_event(loaded, path)
                if event is not None:
                    yield row, event
            return
        results: list[tuple[Loaded, Block]] | None = None
        for block in record.blocks:
            if block.kind != "call":
                continue
            for action in actions(block, record.cwd):
                if action.path not in paths:
                    continue
                if results is None:
                    results = self._results(loaded, answers)
                answer = next((found for found in results if found[1].tool_id == block.tool_id), None)
                event = Event(self._turn(row), action.path, action, answered=answer is not None)
                if answer is not None:
                    event.failed, event.answer = answer[1].failed, answer[1].text
                    event.detail = _detail(answer[0].raw)
                yield (answer[0].row if answer is not None else row), event

    def _answers(self, rows: Sequence[Row]) -> dict[str, list[Row]]:
        """Return the result rows that answer calls, by the uid of the record with the call."""
        calls = {row.uid for row in rows if row.kind != "snapshot"}
        threads = sorted({row.thread_id for row in rows if row.thread_id is not None and row.kind != "snapshot"})
        found: dict[str, list[Row]] = {}
        condition = f"kind={_RESULT} and thread_id in "
        candidates = [
            row for part in _parts(threads) for row in self._loader.rows(f"{condition}({_marks(part)})", part)
        ]
        for row in rows:
            if row.thread_id is None and row.kind != "snapshot":
                candidates += self._loader.rows(
                    f"kind={_RESULT} and file_id=? and id>? and id<?", (row.file_id, row.id, row.id + _BATCH)
                )
        for row in candidates:
            link = row.source or row.parent
            if link in calls:
                found.setdefault(link, []).append(row)
        return found

    def _results(self, call: Loaded, answers: Sequence[Row]) -> list[tuple[Loaded, Block]]:
        loaded = [call, *(one for row in answers for one in self._load(row))]
        return [(one, block) for one in loaded for block in one.record.blocks if block.kind == "result"]

    # ── backups ──────────────────────────────────────────────────────

    def _backup_event(self, loaded: Loaded, path: str) -> Event | None:
        entry = snapshot_backups(loaded.record).get(path, {})
        name = entry.get("backupFileName")
        if not isinstance(name, str) or not self._is_of_now(loaded, entry):
            return None
        contents = self._backup(loaded.record.session, name)
        return None if contents is None else Event(self._turn(loaded.row), path, backup=contents)

    @staticmethod
    def _is_of_now(loaded: Loaded, entry: dict[str, Any]) -> bool:
        """An update repeats an earlier snapshot; only what it adds was true when it was written."""
        if b'"isSnapshotUpdate":true' not in loaded.raw.replace(b" ", b""):
            return True
        made = parse_time(entry.get("backupTime"))
        return made is not None and loaded.record.time is not None and made >= loaded.record.time

    def _backup(self, session: str, name: str) -> str | None:
        if self._backups is None:
            self._backups = {}
            for row, file in self.connection.execute("select id, path from files where kind='file-backup'"):
                folder, _, base = str(file).replace("\\", "/").rpartition("/")
                self._backups.setdefault(base, {})[folder.rpartition("/")[2]] = int(row)
        known = self._backups.get(name, {})
        file_id = known.get(session) or (next(iter(known.values())) if len(known) == 1 else None)
        if file_id is None:
            return None
        for row in self._loader.rows("file_id=?", (file_id,)):
            try:
                return self._loader.raw(row)[0].decode("utf-8", "surrogateescape")
            except FabulaError as error:
                self.unreadable.append((row.uid, error.message))
        return None

    # ── where ────────────────────────────────────────────────────────

    def _load(self, row: Row) -> list[Loaded]:
        try:
            return self._loader.load([row])
        except FabulaError as error:
            self.unreadable.append((row.uid, error.message))
            return []

    def _turn(self, row: Row) -> Turn:
        session, host, project = self._session(row.session_id)
        return Turn(row.uid, self._thread(row.thread_id), session, host, project, row.time)

    def _thread(self, thread: int | None) -> str:
        if thread is None:
            return ""
        if thread not in self._threads:
            found = self.connection.execute("select uid from threads where id=?", (thread,)).fetchone()
            self._threads[thread] = unpack_id(found[0]) if found else ""
        return self._threads[thread]

    def _session(self, session: int) -> tuple[str, str, str]:
        if session not in self._sessions:
            found = self.connection.execute(
                "select s.uid, s.host, coalesce(p.label, '') from sessions s left join projects p on p.id=s.project_id"
                " where s.id=?",
                (session,),
            ).fetchone()
            self._sessions[session] = (unpack_id(found[0]), found[1], found[2]) if found else ("", "", "")
        return self._sessions[session]


def in_order_of_effect(placed: list[tuple[Row, Event]]) -> list[tuple[Row, Event]]:
    """Order events by time across files and by place within a file, where times may run backward.

    The row is where the event took effect: that of the result for a call, that of the record for a backup.
    """
    latest: dict[int, int] = {}
    keyed: list[tuple[int, int, int, int, Row, Event]] = []
    for row, event in sorted(placed, key=lambda one: (one[0].file_id, one[0].offset, one[0].id)):
        latest[row.file_id] = max(latest.get(row.file_id, 0), row.time or 0)
        keyed.append((latest[row.file_id], row.file_id, row.offset, len(keyed), row, event))
    return [(one[4], one[5]) for one in sorted(keyed, key=lambda one: one[:4])]


def _detail(raw: bytes) -> Any:
    """Return what a client keeps beside a result, outside of its text."""
    if b'"toolUseResult"' not in raw:
        return None
    try:
        value = json.loads(raw.decode("utf-8", "surrogateescape"))
    except ValueError:
        return None
    return value.get("toolUseResult") if isinstance(value, dict) else None


def _parts(ids: Sequence[int]) -> Iterator[list[int]]:
    for at in range(0, len(ids), _BATCH):
        yield list(ids[at : at + _BATCH])


def _marks(ids: Collection[int]) -> str:
    return ",".join("?" * len(ids))
