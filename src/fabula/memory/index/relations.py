"""How memories relate: written edges, guessed ones, and what follows from them.

Written edges are the table ``edges``; guesses are a table of their own, which only :meth:`Relations.guessed_edges`
reads, for readers who follow edges. Nothing here that says what a memory is worth reads it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fabula.kernel.values import replace
from fabula.memory.format.paths import normalise, original_path
from fabula.memory.format.vocabulary import RELATIONS
from fabula.memory.index.asking import Asking, marks, parts
from fabula.memory.index.schema import GONE
from fabula.memory.links.edges import AuthoredEdge, DerivedEdge, joined
from fabula.memory.links.walking import neighbourhood
from fabula.memory.standing.constants import NEIGHBOUR_DEPTH

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabula.memory.links.edges import Edge
    from fabula.memory.links.walking import Neighbourhood

_AUTHORED: Final = "select s.path, e.relation, e.target, s.created from edges e join files s on s.id = e.source"
_GUESSED: Final = (
    "select s.path, g.relation, t.path, max(g.strength) from guesses g join files s on s.fact_hash = g.source_fact "
    "join files t on t.fact_hash = g.target_fact and t.path <> s.path"
)
_MEMORY: Final = frozenset(relation for relation, kind in RELATIONS.items() if kind == "memory")


class Relations(Asking):
    """Edges and walks."""

    def authored_edges(
        self, relations: Iterable[str] | None = None, touching: Iterable[str] | None = None
    ) -> list[AuthoredEdge]:
        """Return what stands in files, of some relations, with one end among some paths; sorted by their ends."""
        wanted = None if relations is None else frozenset(relations)
        rows: set[tuple[Any, ...]] = set()
        if touching is None:
            rows.update(self.ask(_AUTHORED))
        else:
            for some in parts(map(normalise, touching)):
                rows.update(self.ask(f"{_AUTHORED} where s.path in ({marks(some)})", some))
                rows.update(self.ask(f"{_AUTHORED} where e.target in ({marks(some)})", some))
        return [AuthoredEdge(*row) for row in sorted(rows) if wanted is None or row[1] in wanted]

    def guessed_edges(self, touching: Iterable[str] | None = None) -> list[DerivedEdge]:
        """Return the guesses about facts that are there, with one end among some paths: for readers alone."""
        together = "group by s.path, g.relation, t.path"
        rows: set[tuple[Any, ...]] = set()
        if touching is None:
            rows.update(self.ask(f"{_GUESSED} {together}"))
        else:
            for some in parts(map(normalise, touching)):
                rows.update(self.ask(f"{_GUESSED} where s.path in ({marks(some)}) {together}", some))
                rows.update(self.ask(f"{_GUESSED} where t.path in ({marks(some)}) {together}", some))
        return [DerivedEdge(*row) for row in sorted(rows)]

    def neighbourhood(
        self, path: str, depth: int = NEIGHBOUR_DEPTH, relations: Iterable[str] | None = None
    ) -> Neighbourhood:
        """Return what is near a memory, over edges in either direction, and the edges among it.

        What is reached are files that are there; a relation to what was archived or moved since leads to where that is
        now. ``relations`` narrows the walk; names of no relation are passed over.
        """
        start = normalise(path)
        wanted = _MEMORY if relations is None else _MEMORY & frozenset(relations)
        authored: set[AuthoredEdge] = set()
        guessed: set[DerivedEdge] = set()
        known, border = {start}, {start}
        for _ in range(max(1, min(depth, NEIGHBOUR_DEPTH)) + 1):  # once more: the edges among what was reached last
            written, guesses = self.authored_edges(wanted, border | self._former(border)), self.guessed_edges(border)
            authored.update(self._led(written))
            guessed.update(guess for guess in guesses if guess.relation in wanted)
            edges: list[Edge] = [*authored, *guessed]
            ends = {end for edge in edges for end in (edge.source, edge.target)}
            border = ends - known
            known |= border
        there = self._there(known) | {start}
        among = [edge for edge in joined(authored, guessed) if edge.source in there and edge.target in there]
        return neighbourhood(start, among, depth, frozenset(wanted))

    def _former(self, paths: Iterable[str]) -> set[str]:
        """Return where memories lay before they were archived, brought back or moved: relations may name that."""
        wanted = frozenset(paths)
        left = self.ask(
            "select distinct target from edges where target > 'archive/' and target < 'archive0' "
            "and not exists(select 1 from files f where f.path = target)"
        )
        found = {target for (target,) in left if original_path(target) in wanted}
        for some in parts(sorted(wanted)):
            found.update(one for (one,) in self.ask(f"select origin from files where path in ({marks(some)})", some))
            found.update(one for (one,) in self.ask(f"select old from moves where new in ({marks(some)})", some))
        return {one for one in found if one is not None}

    def _led(self, edges: Iterable[AuthoredEdge]) -> list[AuthoredEdge]:
        """Return edges with each target where it is now; one that is nowhere stays as it is written."""
        written = list(edges)
        there = self._there({edge.target for edge in written})
        now = {target: self.resolve(target) for edge in written if (target := edge.target) not in there}
        return [replace(edge, target=now.get(edge.target) or edge.target) for edge in written]

    def successors_of(self, paths: Iterable[str]) -> dict[str, str]:
        """Return for each memory that was superseded what superseded it last, by what is written alone."""
        wanted = list(dict.fromkeys(map(normalise, paths)))
        found: dict[str, str] = {}
        for some in parts(wanted):
            rows = self.ask(
                f"select e.target, s.path from edges e join files s on s.id = e.source where e.relation = 'supersedes' "
                f"and e.target in ({marks(some)}) order by s.created desc, s.path",
                some,
            )
            for target, source in rows:
                found.setdefault(target, source)
        return found

    def resolve(self, path: str) -> str | None:
        """Return where a memory is now: at its path, in the archive, or where it was moved to; ``None``: nowhere."""
        here, seen = normalise(path), set[str]()
        while here not in seen:
            seen.add(here)
            if self._there([here]):
                return here
            archived = self.one(
                "select path from files where origin = ? order by archived_at desc, path desc limit 1", (here,)
            )
            if archived is not None:
                return str(archived)
            moved = self.one("select new from moves where old = ? order by id desc limit 1", (here,))
            here = str(moved or original_path(here) or here)  # what left the archive is back where it came from
        return None

    def dangling(self) -> list[AuthoredEdge]:
        """Return the edges that lead nowhere: no memory is at the target, nor was archived from there.

        Of provenance none is: a session's document need not exist.
        """
        rows = self.ask(
            f"{_AUTHORED} where e.relation <> 'from_session' "
            "and not exists(select 1 from places p where p.path = e.target and p.state <> ?) "
            "and not exists(select 1 from files o where o.origin = e.target)",
            (GONE,),
        )
        return [AuthoredEdge(*row) for row in sorted(rows)]

    def orphans(self) -> list[str]:
        """Return the active memories, tasks apart, that no written edge leads to or from."""
        rows = self.ask(
            "select path from files f where archived = 0 and type <> 'task' and not exists(select 1 from edges e "
            "where e.source = f.id) and not exists(select 1 from edges e where e.target = f.path) order by path"
        )
        return [path for (path,) in rows]

    def duplicates(self) -> list[list[str]]:
        """Return the groups of active memories that hold one fact; the first of each is the one that counts."""
        return self._groups("fact_hash", "")

    def near_duplicates(self) -> list[list[str]]:
        """Return the groups of active memories that read alike and hold different facts."""
        return self._groups("content_hash", "and count(distinct fact_hash) > 1")

    def _groups(self, column: str, condition: str) -> list[list[str]]:
        live = "archived = 0 and type <> 'task'"
        rows = self.ask(
            f"select {column}, path from files where {live} and {column} in (select {column} from files where {live} "
            f"group by {column} having count(*) > 1 {condition}) order by created, path"
        )
        found: dict[str, list[str]] = {}
        for key, path in rows:
            found.setdefault(key, []).append(path)
        return sorted(found.values())

    def _there(self, paths: Iterable[str]) -> set[str]:
        return {
            path
            for some in parts(paths)
            for (path,) in self.ask(f"select path from files where path in ({marks(some)})", some)
        }
