"""What the index holds in all, and what keeps files out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.memory.index import meta
from fabula.memory.index.asking import Asking
from fabula.memory.index.values import Move, Problem, Status

if TYPE_CHECKING:
    from fabula.memory.index.places import Opened


class Overview(Asking):
    """Counts and problems."""

    _opened: Opened

    def problems(self) -> list[Problem]:
        """Return the files from which nothing is served, by path."""
        rows = self.ask(
            "select p.path, b.kind, b.message, b.fix, b.line, b.column "
            "from problems b join places p on p.id = b.file_id order by p.path"
        )
        return [Problem(*row) for row in rows]

    def moves_after(self, move: int = 0) -> list[Move]:
        """Return the renames that were seen after one of them (its id), in their order."""
        return [
            Move(*row) for row in self.ask("select id, old, new, seen from moves where id > ? order by id", (move,))
        ]

    def status(self) -> Status:
        """Return what the index holds."""
        live = "from files where archived = 0"
        pages = self.one("select page_count * page_size from pragma_page_count, pragma_page_size")
        return Status(
            head=str(self.one("select value from meta where key = ?", (meta.HEAD,)) or ""),
            place=self._opened.kind,
            path="" if self._opened.path is None else str(self._opened.path),
            files=int(self.one("select count(*) from files")),
            archived=int(self.one("select count(*) from files where archived = 1")),
            dirty=int(self.one("select count(*) from files where dirty = 1")),
            by_type=self.counts(f"select type, count(*) {live} group by type order by type"),
            by_workspace=self.counts(
                f"select workspace, count(*) {live} and workspace is not null group by workspace order by workspace"
            ),
            by_bucket=self.counts("select bucket, count(*) from files group by bucket order by bucket"),
            by_task_status=self.counts(
                f"select task_status, count(*) {live} and type = 'task' and task_status is not null "
                "group by task_status order by task_status"
            ),
            edges=int(self.one("select count(*) from edges")),
            guesses=int(self.one("select count(*) from guesses")),
            vectors=self.counts("select space, count(*) from vectors group by space order by space"),
            problems=int(self.one("select count(*) from problems")),
            bytes=int(pages or 0),
        )
