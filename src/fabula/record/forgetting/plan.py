"""The plan of a forgetting: everything that goes, found by what was named, then by the marks of what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.ids import pack_id, unpack_id
from fabula.kernel.records import Record
from fabula.kernel.values import define, field
from fabula.record.forgetting.attached import attached
from fabula.record.forgetting.quotes import Phrases
from fabula.record.forgetting.survey import Survey
from fabula.record.forgetting.wanted import ByMarks, ByWish
from fabula.record.vault.erasing import Erasure
from fabula.record.vault.tombstones import KEPT, Tombstones

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import apsw

    from fabula.record.forgetting.survey import Doomed, Sight
    from fabula.record.forgetting.wanted import Wanted
    from fabula.record.map.files import KnownFile
    from fabula.record.sources import Source
    from fabula.record.vault.tombstones import Mark
    from fabula.record.vault.vault import Vault

_PART = 500
_ANY_KEY = b"plan"  # prints of a plan never leave the process


@define
class Plan:
    """What goes. ``rows`` are the map's, in order; ``whole`` are sessions and threads of which nothing stays."""

    wanted: Wanted
    marks: set[Mark] = field(default_factory=set)
    doomed: list[Doomed] = field(default_factory=list)
    uids: set[str] = field(default_factory=set)
    seen: dict[bytes, int] = field(default_factory=dict)  # distinct bytes: digest -> size
    unnamed: set[bytes] = field(default_factory=set)  # of these, what is no record of the map
    unread: int = 0  # records that are damaged, so that nobody knows whether they should go
    phrases: Phrases = field(default_factory=Phrases)
    rows: list[int] = field(default_factory=list)
    whole: list[tuple[str, str]] = field(default_factory=list)
    state: tuple[int, ...] = ()  # of the vault when it was surveyed
    attached: list[tuple[str, str]] = field(default_factory=list)  # (kind, ref) whose title, pin and card go

    def erasure(self, doomed: Iterable[Doomed]) -> Erasure:
        """Return what is to be erased, given what the plan's marks hit now."""
        attached = {(KEPT, ref.encode("utf-8", "surrogatepass")) for _, ref in self.attached}
        erasure = Erasure(marks=self.marks | attached, uids=self.uids, kept=list(self.attached))
        for one in doomed:
            if one.pieces:
                erasure.pieces[one.generation.id] = one.pieces
            if one.tail:
                erasure.tails.add(one.generation.id)
        return erasure


def make_plan(
    vault: Vault,
    connection: apsw.Connection,
    sources: Mapping[str, Source],
    known: Mapping[int, KnownFile],
    wanted: Wanted,
) -> Plan:
    """Survey the vault twice: for what was named, then for whatever is known by the same marks."""
    plan = Plan(wanted)
    survey = Survey(vault, sources, known)
    survey.look(ByWish(wanted), lambda sight: plan.marks.update(sight.marks()))
    plan.unread = len(survey.unread)
    plan.state = _state(vault)
    plan.doomed = _hit_by(plan, vault, sources, known, tally=True) if plan.marks else []
    plan.rows = sorted(_rows(connection, plan.uids))
    plan.whole = [*_emptied(connection, plan, "session"), *_emptied(connection, plan, "thread")]
    plan.attached = attached(vault.folder, plan)
    return plan


def hit_now(plan: Plan, vault: Vault, sources: Mapping[str, Source], known: Mapping[int, KnownFile]) -> list[Doomed]:
    """Return what the plan's marks hit in the vault as it is now: what was sealed since the plan was made as well."""
    return plan.doomed if _state(vault) == plan.state else _hit_by(plan, vault, sources, known, tally=False)


def _state(vault: Vault) -> tuple[int, ...]:
    """Return numbers that change with whatever is sealed."""
    query = "select count(*), coalesce(sum(length + length(tail)), 0), coalesce(max(sealed_at), 0) from generations"
    return tuple(vault.journal.rows(query)[0])


def _hit_by(
    plan: Plan, vault: Vault, sources: Mapping[str, Source], known: Mapping[int, KnownFile], *, tally: bool
) -> list[Doomed]:
    judge = ByMarks(Tombstones.of(_ANY_KEY, plan.marks))
    found = (lambda sight: _tally(plan, sight)) if tally else None
    return Survey(vault, sources, known).look(judge, found)


def _tally(plan: Plan, sight: Sight) -> None:
    new = sight.sha not in plan.seen
    plan.seen[sight.sha] = len(sight.data)
    if not isinstance(sight.outcome, Record):
        plan.unnamed.add(sight.sha)
        return
    plan.uids.add(sight.outcome.uid)
    if new:
        plan.phrases.take(sight.outcome)


def _rows(connection: apsw.Connection, uids: set[str]) -> Iterable[int]:
    packed = [pack_id(uid) for uid in sorted(uids)]
    for at in range(0, len(packed), _PART):
        part = packed[at : at + _PART]
        for (row,) in connection.execute(f"select id from records where uid in ({','.join('?' * len(part))})", part):
            yield int(str(row))


_MEMBERS = {
    "session": ("select distinct session_id from records where id in ({})", "session_id", "sessions"),
    "thread": ("select distinct thread_id from records where id in ({}) and thread_id is not null", "thread_id",
               "threads"),
}  # fmt: skip


def _emptied(connection: apsw.Connection, plan: Plan, kind: str) -> list[tuple[str, str]]:
    """Return the sessions or threads that lose all their records."""
    members, column, table = _MEMBERS[kind]
    touched: set[int] = set()
    for at in range(0, len(plan.rows), _PART):
        part = plan.rows[at : at + _PART]
        touched |= {int(str(one)) for (one,) in connection.execute(members.format(",".join("?" * len(part))), part)}
    gone = set(plan.rows)
    found = []
    for one in sorted(touched):
        if all(row in gone for (row,) in connection.execute(f"select id from records where {column}=?", (one,))):
            for (uid,) in connection.execute(f"select uid from {table} where id=?", (one,)):
                found.append((kind, unpack_id(uid)))
    return found
