"""Which files of the record a person means by a path: one file, in however many worktrees it was edited."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from fabula.kernel.values import frozen
from fabula.record.history.paths import comparable, same_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw


@frozen
class Named:
    """A path of the record that matches. ``project`` is the map's id; ``tail`` the path below its working folder."""

    row: int
    path: str
    project: int | None
    tail: str


def matching(connection: apsw.Connection, path: str) -> list[Named]:
    """Return the paths of the record that can mean ``path``: equal to it, or one is the tail of the other."""
    name = comparable(path).rpartition("/")[2]
    escaped = name.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    found = connection.execute(
        "select id, path from paths where path like ? escape '\\' or path = ?", (f"%{escaped}", path)
    ).fetchall()
    return [
        _named(connection, row, text) for row, text in cast("list[tuple[int, str]]", found) if same_file(text, path)
    ]


def _named(connection: apsw.Connection, row: int, path: str) -> Named:
    project, tail = None, comparable(path)
    for number, folder in connection.execute(
        "select distinct s.project_id, s.cwd from touches t join records r on r.id=t.record_id"
        " join sessions s on s.id=r.session_id where t.path_id=? order by length(s.cwd)",
        (row,),
    ):
        project = number if project is None else project
        below = comparable(folder) + "/"
        if folder and comparable(path).startswith(below):
            return Named(row, path, number, comparable(path)[len(below) :])
    return Named(row, path, project, tail)


def files_meant(found: Sequence[Named], path: str) -> list[list[Named]]:
    """Group matching paths into files: worktrees of one project hold one file; a relative name joins what it ends.

    A path that is equal to ``path`` decides: its file alone is returned.
    """
    groups: dict[tuple[int | None, str], list[Named]] = {}
    whole = [one for one in found if _is_absolute(one.path)]
    for one in whole:
        groups.setdefault((one.project, one.tail), []).append(one)
    for one in found:
        if one in whole:
            continue
        owners = [key for key, group in groups.items() if any(same_file(one.path, other.path) for other in group)]
        groups.setdefault(owners[0] if len(owners) == 1 else (one.project, one.path), []).append(one)
    for group in groups.values():
        if any(one.path == path for one in group):
            return [group]
    return list(groups.values())


def chains(named: Sequence[Named]) -> list[list[Named]]:
    """Split the paths of one file into those with one state: each worktree has its own.

    A relative name shares the state of the only absolute one.
    """
    whole = [one for one in named if _is_absolute(one.path)]
    relative = [one for one in named if one not in whole]
    return [[*whole, *relative]] if len(whole) <= 1 else [[one] for one in named]


def in_project(found: Iterable[Named], project: int | None) -> list[Named]:
    """Return those paths that sessions of a project touched."""
    return [one for one in found if one.project == project]


def _is_absolute(path: str) -> bool:
    return path.startswith(("/", "~", "\\\\")) or path[1:3] in (":\\", ":/")
