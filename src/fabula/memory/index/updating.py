"""One pass over what changed: read, decide, write. A rebuild is a pass that begins with nothing.

One transaction holds all of it and the watermark. What of a file cannot be written is taken out again by itself, so
that none keeps others out (savepoints, which do the same, cost as much as the rows).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import apsw

from fabula.kernel.values import define, field, frozen
from fabula.memory.index import meta, rows
from fabula.memory.index.asking import rows_of
from fabula.memory.index.looking import ABSENT_FOLDER
from fabula.memory.index.projection import Unserved, project
from fabula.memory.index.schema import BROKEN, GONE, IGNORED, SERVED
from fabula.memory.index.values import Report

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fabula.memory.format.reader import Reading
    from fabula.memory.index.looking import Looked
    from fabula.memory.index.source import Corpus, Seen, Stamp

#: What a single file may cause; anything else is about the database or the machine.
_OF_ONE_FILE: Final = (
    apsw.ConstraintError,
    apsw.MismatchError,
    apsw.TooBigError,
    ArithmeticError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


@frozen
class Place:
    """What is known of a path: what it is in the tree, what was read of it, and what became of that."""

    id: int
    tree_blob: str | None
    blob: str | None
    state: int
    stamp: tuple[int | None, int, int | None]


@frozen
class Fate:
    """What becomes of a path. ``data`` is what is served; ``None`` where nothing is, or nothing new."""

    state: int
    tree_blob: str | None
    blob: str | None = None
    stamp: tuple[int | None, int, int | None] = (None, 1, None)
    data: bytes | None = None
    why: Unserved | None = None

    @property
    def is_dirty(self) -> bool:
        """Whether it differs from the tree."""
        return self.blob != self.tree_blob


@define
class _Counts:
    """What was served before and is served after, path -> fact."""

    removed: dict[str, str] = field(default_factory=dict)
    added: dict[str, str] = field(default_factory=dict)
    modified: list[str] = field(default_factory=list)


@frozen
class Work:
    """What a pass is about: the commit it leads to, what differs in it (path -> blob), and what was seen on disk.

    ``ignoring``: what the files look like that say what git ignores; ``asks_again``: they may say something else now.
    ``readings``: of files that were read already.
    """

    head: str
    changes: Mapping[str, str | None]
    looked: Looked
    ignoring: str = ""
    asks_again: bool = False
    readings: Mapping[str, Reading] = field(default_factory=dict)


class Pass:
    """Brings the rows of one database to a commit and a work tree."""

    def __init__(self, connection: apsw.Connection, corpus: Corpus) -> None:
        self._connection = connection
        self._corpus = corpus
        self._algorithm = "sha1"
        self._folders: dict[str, int] = {}
        self._counts = _Counts()
        self._is_new = False
        self._readings: Mapping[str, Reading] = {}

    def run(self, work: Work, *, now_ms: int, keeps_moves: bool = True) -> Report:
        """Do the work in one transaction; return what changed. ``keeps_moves``: write down renames that were seen."""
        corpus = self._corpus
        corpus.begin()
        self._readings = work.readings
        self._algorithm = "sha256" if len(work.head) == 64 else "sha1"
        with self._connection:
            self._is_new = meta.value_of(self._connection, meta.HEAD) is None
            self._folders = dict(rows_of(self._connection, "select path, id from folders"))
            paths = sorted(work.changes.keys() | work.looked.paths)
            places = {path: None if self._is_new else self._place(path) for path in paths}
            trees = {path: _tree_blob(path, places[path], work.changes) for path in paths}
            ignored = corpus.ignored(_doubtful(places, trees, asks_again=work.asks_again))
            missing = []
            for path in paths:
                seen = corpus.look(path)
                if seen.state == "missing" and trees[path] is not None:
                    missing.append(path)
                else:
                    self._settle(path, places[path], self._fate(path, trees[path], seen, ignored))
            self._settle_missing(missing, places, trees)
            self._keep_folders(work.looked.folders)
            report = self._report(work.head)
            if work.looked.unnamed:
                report.notices.append(f"{work.looked.unnamed} files have names that are no text: rename them")
            if keeps_moves and not self._is_new:
                moved = [(*one, now_ms) for one in report.moved]
                self._connection.executemany("insert into moves(old, new, seen) values(?, ?, ?)", moved)
            self._keep_meta(work, report, now_ms)
        return report

    # ── deciding ────────────────────────────────────────────────────
    def _fate(self, path: str, tree: str | None, seen: Seen, ignored: set[str]) -> Fate:
        """Return what becomes of a path at which something lies, or that is in no tree."""
        stamp = _stamp(seen.stamp)
        if seen.state == "missing":
            return Fate(GONE, None)
        if seen.state != "file":
            return Fate(BROKEN, tree, stamp=stamp, why=_unread(path, seen))
        if path in ignored:
            return Fate(IGNORED, None, stamp=stamp)
        blob = self._corpus.blob_id(seen.data, self._algorithm)
        if tree is not None and blob != tree and self._corpus.is_clean(path, seen.data, tree):
            return Fate(SERVED, tree, tree, stamp, seen.data)
        return Fate(SERVED, tree, blob, stamp, seen.data)

    def _settle_missing(
        self, paths: list[str], places: Mapping[str, Place | None], trees: Mapping[str, str | None]
    ) -> None:
        """Settle what is in the tree and not in the work tree: deleted, or left out of it on purpose."""
        left_out = self._corpus.left_out(paths) if paths else set()
        for path in paths:
            tree = trees[path]
            data = self._corpus.blob(tree) if tree is not None and path in left_out else None
            fate = Fate(GONE, tree) if data is None else Fate(SERVED, tree, tree, data=data)
            self._settle(path, places[path], fate)

    # ── writing ─────────────────────────────────────────────────────
    def _settle(self, path: str, place: Place | None, fate: Fate) -> None:
        """Write what became of a path."""
        if place is None and fate.state == GONE and fate.tree_blob is None:
            return
        if place is not None and place.state == fate.state == SERVED and place.blob == fate.blob:
            self._keep_place(path, place, fate)
            dirty = int(fate.is_dirty)
            self._connection.execute("update files set dirty = ? where id = ? and dirty <> ?", (dirty, place.id, dirty))
            return
        before = self._fact_of(place) if place is not None and place.state == SERVED else None
        try:
            after = self._write(path, place, fate)
        except _OF_ONE_FILE as error:
            why = Unserved("failed", f"its rows could not be written: {error}", "report this file")
            failed = Fate(BROKEN, fate.tree_blob, fate.blob, fate.stamp, why=why)
            after = self._write(path, self._place(path), failed)
        if before is not None and after is not None:
            self._counts.modified.append(path)
        elif before is not None:
            self._counts.removed[path] = before
        elif after is not None:
            self._counts.added[path] = after

    def _write(self, path: str, place: Place | None, fate: Fate) -> str | None:
        """Write the rows of a path; return the fact that is served."""
        if place is not None:
            rows.delete(self._connection, place.id)
            if fate.state == GONE and fate.tree_blob is None:
                self._connection.execute("delete from places where id = ?", (place.id,))
                return None
        found = fate.why if fate.data is None else project(path, fate.data, self._readings.get(path))
        if isinstance(found, Unserved):
            fate = Fate(BROKEN, fate.tree_blob, fate.blob, fate.stamp)
        file_id = self._keep_place(path, place, fate)
        if isinstance(found, Unserved):
            rows.insert_problem(self._connection, file_id, found)
        elif found is not None and fate.blob is not None:
            rows.insert(self._connection, file_id, path, fate.blob, fate.is_dirty, found)
            return found.fact_hash
        return None

    def _keep_place(self, path: str, place: Place | None, fate: Fate) -> int:
        """Write what is known of a path; return its id."""
        values = (fate.tree_blob, fate.blob, *fate.stamp, fate.state)
        if place is None:
            folder = self._folder_id(path.rpartition("/")[0])
            self._connection.execute("insert into places values(null, ?, ?, ?, ?, ?, ?, ?, ?)", (path, folder, *values))
            return self._connection.last_insert_rowid()
        if values != (place.tree_blob, place.blob, *place.stamp, place.state):
            columns = "tree_blob = ?, blob = ?, size = ?, mtime_ns = ?, ctime_ns = ?, state = ?"
            self._connection.execute(f"update places set {columns} where id = ?", (*values, place.id))
        return place.id

    def _folder_id(self, folder: str, mtime_ns: int = 0) -> int:
        found = self._folders.get(folder)
        if found is None:
            self._connection.execute("insert into folders(path, mtime_ns) values(?, ?)", (folder, mtime_ns))
            found = self._folders[folder] = self._connection.last_insert_rowid()
        return found

    def _keep_folders(self, folders: Mapping[str, int]) -> None:
        """Write what folders look like; those that are gone and hold nothing of the tree are forgotten."""
        for folder, mtime_ns in folders.items():
            folder_id = self._folder_id(folder, mtime_ns)
            if mtime_ns == ABSENT_FOLDER:
                held = self._connection.execute("select 1 from places where folder_id = ? limit 1", (folder_id,))
                if held.fetchone() is None:
                    self._connection.execute("delete from folders where id = ?", (folder_id,))
                    continue
            self._connection.execute("update folders set mtime_ns = ? where id = ?", (mtime_ns, folder_id))

    def _keep_meta(self, work: Work, report: Report, now_ms: int) -> None:
        known = meta.revision_of(self._connection)
        values: dict[str, str | int] = {meta.HEAD: work.head}
        if work.ignoring:
            values[meta.IGNORING] = work.ignoring
        if self._is_new:
            values[meta.REVISION] = max(known, now_ms)
        elif not report.unchanged or meta.value_of(self._connection, meta.HEAD) != work.head:
            values[meta.REVISION] = known + 1
        meta.keep(self._connection, values)

    # ── what was there ──────────────────────────────────────────────
    def _place(self, path: str) -> Place | None:
        found = rows_of(
            self._connection,
            "select id, tree_blob, blob, state, size, mtime_ns, ctime_ns from places where path = ?",
            (path,),
        )
        return None if not found else Place(found[0][0], found[0][1], found[0][2], found[0][3], found[0][4:])

    def _fact_of(self, place: Place) -> str | None:
        found = self._connection.execute("select fact_hash from files where id = ?", (place.id,)).fetchone()
        return None if found is None else str(found[0])

    def _report(self, head: str) -> Report:
        counts = self._counts
        moved = [] if self._is_new else moves_among(counts.removed, counts.added)
        old, new = {one[0] for one in moved}, {one[1] for one in moved}
        problems = self._connection.execute("select count(*) from problems").fetchone()
        return Report(
            head=head,
            rebuilt=self._is_new,
            added=sorted(counts.added.keys() - new),
            modified=sorted(counts.modified),
            removed=sorted(counts.removed.keys() - old),
            moved=moved,
            problems=problems[0] if problems else 0,
        )


def moves_among(removed: Mapping[str, str], added: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the renames among paths that went and came, path -> fact: where just one of each has a fact."""
    gone, come = _alone(removed), _alone(added)
    return sorted((path, come[fact]) for fact, path in gone.items() if fact in come)


def _alone(facts: Mapping[str, str]) -> dict[str, str]:
    """Return fact -> path of those facts that one path alone has."""
    found: dict[str, str | None] = {}
    for path, fact in facts.items():
        found[fact] = None if fact in found else path
    return {fact: path for fact, path in found.items() if path is not None}


def _tree_blob(path: str, place: Place | None, changes: Mapping[str, str | None]) -> str | None:
    if path in changes:
        return changes[path]
    return None if place is None else place.tree_blob


def _doubtful(
    places: Mapping[str, Place | None], trees: Mapping[str, str | None], *, asks_again: bool
) -> Iterable[str]:
    """Return the paths of which only git can tell whether it ignores them: what is in no tree, and is news."""
    return [
        path
        for path, place in places.items()
        if trees[path] is None and (place is None or place.state == IGNORED or asks_again)
    ]


def _stamp(stamp: Stamp | None) -> tuple[int | None, int, int | None]:
    return (None, 0, None) if stamp is None else (stamp.size, stamp.mtime_ns, stamp.ctime_ns)


def _unread(path: str, seen: Seen) -> Unserved:
    return Unserved(seen.state, f"{path} {seen.note}" if seen.state == "not_a_file" else seen.note, "look at the file")
