"""Which thread a record belongs to: its own prompt id, else its ancestors', else the turn it stands in.

Pure but for the two look-ups that are passed in: where an already mapped record belongs, and where a spawning call
stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.ids import derived_id
from fabula.kernel.values import define, field

if TYPE_CHECKING:
    from collections.abc import Callable

    from fabula.kernel.records import Record

#: Kinds that say something: the first of them in a file opens a turn, even when no prompt does (a command, a resume).
TALK = frozenset(("task", "reply", "thought", "call", "result", "summary", "command"))


@define
class ThreadResolver:
    """Resolves the records of one file in file order.

    ``thread_of_record`` gives the thread of a mapped record's uid, ``thread_of_spawn`` that of a call by tool id or
    agent id, ``open_thread`` the id of a thread by its key (made when it is new). ``turn_before`` gives the turn in
    which an earlier scan left the file; it is asked when nothing else tells. ``members`` remembers this file.
    """

    thread_of_record: Callable[[str], int | None]
    thread_of_spawn: Callable[[str], int | None]
    open_thread: Callable[[str], int]
    turn_before: Callable[[], int | None] = lambda: None
    members: dict[str, int | None] = field(default_factory=dict)
    current: int | None = None  # the turn that the file is in

    def resolve(self, record: Record) -> tuple[int | None, bool]:
        """Return the record's thread and whether the answer is provisional (an ancestor is not mapped yet)."""
        thread, provisional = None, False
        if record.parent and not record.prompt_id and record.kind != "prompt":
            thread = self.members.get(record.parent)  # nearly always: the thread of a record just before
        if thread is None:
            thread, provisional = self._find(record)
        self.members[record.uid] = thread
        if thread is not None and not record.sidechain and record.kind != "title":
            self.current = thread  # a title may name a record of another session: it opens no turn here
        return thread, provisional

    def _find(self, record: Record) -> tuple[int | None, bool]:
        if record.prompt_id:
            return self.open_thread(record.prompt_id), False
        if record.kind == "prompt" and record.raw_type != "attachment" and not record.sidechain:
            return self.open_thread(record.uid), False
        for link in (record.parent, record.source):
            if link and link != record.uid:
                thread = self._linked(link)
                if thread is not None:
                    return thread, False
        if record.spawned_by:
            thread = self.thread_of_spawn(record.spawned_by)
            if thread is not None:
                return thread, False
        if self.current is None:
            self.current = self.turn_before()
        dangling = bool(record.parent or record.source or record.spawned_by)
        if self.current is None and record.sidechain:
            self.current = self.open_thread(derived_id("agent", record.session))
        elif self.current is None and record.kind in TALK:
            self.current = self.open_thread(record.uid)
        return self.current, dangling

    def _linked(self, uid: str) -> int | None:
        members = self.members
        if uid in members:
            return members[uid]
        thread = self.thread_of_record(uid)
        members[uid] = thread
        return thread
