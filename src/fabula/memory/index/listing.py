"""Memories by path and by what they are: rows, pages, tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fabula.kernel.values import define, field, names_of
from fabula.memory.format.paths import normalise
from fabula.memory.index.asking import Asking, marks, parts
from fabula.memory.index.projection import folded
from fabula.memory.index.values import Cited, FileRow, Filters, Task

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PAGE_MOST: Final = 501  # one more than a page, so that who asks knows whether there is another
DONE: Final = "done"
_COLUMNS: Final = names_of(FileRow)[:-3]
_FLAGS: Final = tuple(_COLUMNS.index(name) for name in ("dirty", "archived", "needs_revision"))
_SELECT: Final = f"select {', '.join('f.' + name for name in _COLUMNS)} from files f"


class Listing(Asking):
    """Memories as rows, the sets that belong to them joined."""

    def file(self, path: str) -> FileRow | None:
        """Return a memory, ``None`` where none is served from this path."""
        return self.files([path]).get(normalise(path))

    def files(self, paths: Iterable[str]) -> dict[str, FileRow]:
        """Return those of some memories that are served, by path."""
        found: list[FileRow] = []
        for some in parts(map(normalise, paths)):
            found += self._whole(self.ask(f"{_SELECT} where f.path in ({marks(some)})", some))
        return {row.path: row for row in found}

    def listing(self, filters: Filters, after: str | None = None, limit: int = 50) -> list[FileRow]:
        """Return a page of memories by path, beginning behind ``after``; at most :data:`PAGE_MOST`."""
        conditions, values = _conditions(filters)
        if after is not None:
            conditions.append("f.path > ?")
            values.append(after)
        where = f" where {' and '.join(conditions)}" if conditions else ""
        rows = self.ask(f"{_SELECT}{where} order by f.path limit ?", (*values, max(1, min(limit, PAGE_MOST))))
        return self._whole(rows)

    def count(self, filters: Filters) -> int:
        """Return how many memories a list has in all."""
        conditions, values = _conditions(filters)
        where = f" where {' and '.join(conditions)}" if conditions else ""
        return int(self.one(f"select count(*) from files f{where}", values))

    def tasks(self, workspace: str | None = None, status: Sequence[str] = (), *, archived: bool = False) -> list[Task]:
        """Return tasks by path, each with the tasks it is related to. Only what is not done blocks."""
        conditions, values = _conditions(Filters(types=("task",), workspace=workspace, archived=archived))
        if status:
            conditions.append(f"f.task_status in ({marks(status)})")
            values += status
        rows = self._whole(self.ask(f"{_SELECT} where {' and '.join(conditions)} order by f.path", values))
        edges = self.ask(
            "select s.path, e.relation, t.path, s.task_status, s.archived from edges e join files s on s.id = e.source "
            "join files t on t.path = e.target where e.relation in ('blocks', 'subtask_of') "
            "and s.type = 'task' and t.type = 'task' order by s.path, t.path"
        )
        related = _Related()
        for source, relation, target, state, is_archived in edges:
            related.add(source, relation, target, is_open=state != DONE and not is_archived)
        return [related.task(row) for row in rows]

    def citations_of(self, path: str) -> list[Cited]:
        """Return what a memory cites, in its order."""
        return self._cited("f.path = ?", normalise(path))

    def citing(self, record: str) -> list[Cited]:
        """Return where a record is cited."""
        return self._cited("c.record = ?", record)

    def _cited(self, condition: str, value: str) -> list[Cited]:
        statement = (
            "select f.path, c.text, c.address, c.record, c.digest from citations c join files f on f.id = c.file_id"
        )
        return [Cited(*row) for row in self.ask(f"{statement} where {condition} order by f.path, c.ordinal", (value,))]

    def _whole(self, rows: Sequence[tuple[Any, ...]]) -> list[FileRow]:
        """Return rows with their tags, entities and facets."""
        ids = [str(row[0]) for row in rows]
        tags: dict[int, list[str]] = {}
        entities: dict[int, list[str]] = {}
        facets: dict[int, list[tuple[str, str, float | None]]] = {}
        for some in parts(ids):
            listed = f"({', '.join(some)})"
            for file_id, tag in self.ask(f"select file_id, tag from tags where file_id in {listed}"):
                tags.setdefault(file_id, []).append(tag)
            for file_id, kind, name in self.ask(f"select file_id, type, name from entities where file_id in {listed}"):
                entities.setdefault(file_id, []).append(f"{kind}:{name}")
            for file_id, *facet in self.ask(
                f"select file_id, name, value, number from facets where file_id in {listed}"
            ):
                facets.setdefault(file_id, []).append((facet[0], facet[1], facet[2]))
        found = []
        for row in rows:
            values = list(row)
            for at in _FLAGS:
                values[at] = bool(values[at])
            sets = (tags.get(row[0], ()), entities.get(row[0], ()), facets.get(row[0], ()))
            found.append(FileRow(*values, *map(tuple, sets)))
        return found


def _conditions(filters: Filters) -> tuple[list[str], list[object]]:
    """Return the conditions of a list on ``files f``, and their values."""
    conditions: list[str] = []
    values: list[object] = []

    def hold(condition: str, *given: object) -> None:
        conditions.append(condition)
        values.extend(given)

    if filters.types:
        hold(f"f.type in ({marks(filters.types)})", *filters.types)
    elif filters.task_status is None:
        hold("f.type <> 'task'")
    if not filters.archived and filters.bucket != "archive":
        hold("f.archived = 0")
    for column in ("workspace", "bucket", "session", "task_status"):
        if getattr(filters, column) is not None:
            hold(f"f.{column} = ?", getattr(filters, column))
    if filters.tag is not None:
        hold("f.id in (select file_id from tags where key = ?)", folded(filters.tag))
    if filters.entity is not None:
        hold("f.id in (select file_id from entities where key = ?)", folded(filters.entity))
    if filters.facet is not None:
        name, equals, _ = filters.facet.partition("=")
        if equals:
            hold("f.id in (select file_id from facets where key = ?)", folded(filters.facet))
        else:
            low = folded(name)
            hold("f.id in (select file_id from facets where key >= ? and key < ?)", f"{low}=", f"{low}>")
    return conditions, values


@define
class _Related:
    """The paths that stand around each task, by path."""

    blocked_by: dict[str, list[str]] = field(default_factory=dict)
    blocks: dict[str, list[str]] = field(default_factory=dict)
    parents: dict[str, list[str]] = field(default_factory=dict)
    children: dict[str, list[str]] = field(default_factory=dict)

    def add(self, source: str, relation: str, target: str, *, is_open: bool) -> None:
        """Take in one edge between tasks; ``is_open``: its source is not done."""
        if relation == "blocks":
            self.blocks.setdefault(source, []).append(target)
            if is_open:
                self.blocked_by.setdefault(target, []).append(source)
        else:
            self.parents.setdefault(source, []).append(target)
            self.children.setdefault(target, []).append(source)

    def task(self, row: FileRow) -> Task:
        """Return a task with what stands around it."""
        return Task(
            row,
            blocked_by=tuple(self.blocked_by.get(row.path, ())),
            blocks=tuple(self.blocks.get(row.path, ())),
            parent=next(iter(self.parents.get(row.path, ())), None),
            children=tuple(self.children.get(row.path, ())),
        )
