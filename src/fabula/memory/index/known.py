"""What the store asks before it writes: who holds this fact, this text, this slot, this path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.memory.index.asking import Asking, marks, parts

if TYPE_CHECKING:
    from collections.abc import Iterable

_LIVE = "archived = 0 and type <> 'task'"


class Known(Asking):
    """Holders among active memories that are no tasks; the earliest written first, then by path."""

    def holder_of_fact(self, fact_hash: str) -> str | None:
        """Return the memory that holds a fact, ``None`` where none does."""
        found = self.one(
            f"select path from files where fact_hash = ? and {_LIVE} order by created, path limit 1", (fact_hash,)
        )
        return None if found is None else str(found)

    def holders_of_content(self, content_hash: str) -> list[str]:
        """Return the memories whose text has a hash; their facts may differ in what only machines read."""
        statement = f"select path from files where content_hash = ? and {_LIVE} order by created, path"
        return [path for (path,) in self.ask(statement, (content_hash,))]

    def frame_holders(self, keys: Iterable[str]) -> dict[str, list[tuple[str, str]]]:
        """Return for each frame key that is held the (path, claim) of its holders, by path."""
        found: dict[str, list[tuple[str, str]]] = {}
        for some in parts(keys):
            statement = f"select frame_key, path, claim from files where frame_key in ({marks(some)}) and {_LIVE}"
            for key, path, claim in self.ask(f"{statement} order by frame_key, path", some):
                found.setdefault(key, []).append((path, claim))
        return found

    def is_known(self, path: str) -> bool:
        """Say whether a memory is served from a path."""
        return self.one("select 1 from files where path = ?", (path,)) is not None

    def type_of(self, path: str) -> str | None:
        """Return the type of a memory, ``None`` where there is none."""
        found = self.one("select type from files where path = ?", (path,))
        return None if found is None else str(found)
