"""Which thread a record belongs to."""

from __future__ import annotations

from fabula.kernel.records import Kind, Record
from fabula.record.ingest.threads import ThreadResolver


class Threads:
    """Look-ups over plain dictionaries."""

    def __init__(self, mapped: dict[str, int] | None = None, spawns: dict[str, int] | None = None) -> None:
        self.ids: dict[str, int] = {}
        self.resolver = ThreadResolver((mapped or {}).get, (spawns or {}).get, self.open)

    def open(self, uid: str) -> int:
        return self.ids.setdefault(uid, len(self.ids) + 1)

    def put(self, uid: str, kind: Kind = "reply", **fields: object) -> tuple[int | None, bool]:
        return self.resolver.resolve(Record(uid, "s", kind, "", 0, 1, **fields))  # type: ignore[arg-type]


def test_a_prompt_id_decides() -> None:
    threads = Threads()
    assert threads.put("a", "prompt", prompt_id="p1") == (1, False)
    assert threads.put("b", "result", prompt_id="p2", parent="a") == (2, False)


def test_records_without_a_prompt_id_follow_their_parents() -> None:
    threads = Threads()
    threads.put("a", "prompt", prompt_id="p1")
    threads.put("x", "prompt", prompt_id="p2")
    assert threads.put("b", parent="a") == (1, False)
    assert threads.put("c", parent="b") == (1, False)


def test_a_parent_that_an_earlier_scan_mapped_counts() -> None:
    assert Threads(mapped={"old": 7}).put("b", parent="old") == (7, False)


def test_a_result_without_a_known_parent_follows_its_call() -> None:
    threads = Threads()
    threads.put("call", "prompt", prompt_id="p1")
    assert threads.put("r", "result", parent="gone", source="call") == (1, False)


def test_where_no_record_has_a_prompt_id_each_prompt_begins_a_thread() -> None:
    threads = Threads()
    assert threads.put("a", "prompt")[0] == 1
    assert threads.put("b", parent="a")[0] == 1
    assert threads.put("c", "prompt", parent="b")[0] == 2
    assert threads.put("d", parent="c")[0] == 2


def test_an_unknown_parent_leaves_the_record_in_its_turn_and_says_so() -> None:
    threads = Threads()
    threads.put("a", "prompt", prompt_id="p1")
    assert threads.put("b", parent="phantom") == (1, True)


def test_a_subagent_joins_the_thread_of_the_call_that_spawned_it() -> None:
    threads = Threads(spawns={"toolu_1": 9})
    assert threads.put("a", "task", spawned_by="toolu_1", sidechain=True) == (9, False)
    assert threads.put("b", parent="a", sidechain=True) == (9, False)


def test_a_subagent_whose_spawner_is_unknown_keeps_together() -> None:
    threads = Threads()
    first, provisional = threads.put("a", "task", spawned_by="toolu_1", sidechain=True)
    assert (first is not None, provisional) == (True, True)
    assert threads.put("b", parent="a", sidechain=True)[0] == first


def test_a_queued_prompt_stays_in_the_turn_it_was_typed_in() -> None:
    threads = Threads()
    threads.put("a", "prompt", prompt_id="p1")
    assert threads.put("q", "prompt", raw_type="attachment", parent="a") == (1, False)


def test_talk_before_any_prompt_opens_a_turn_of_its_own() -> None:
    threads = Threads()
    assert threads.put("m", "title") == (None, False)
    assert threads.put("c", "command") == (1, False)
    assert threads.put("r", parent="c") == (1, False)


def test_a_title_of_another_sessions_record_opens_no_turn() -> None:
    threads = Threads(mapped={"leaf": 7})
    assert threads.put("t", "title", source="leaf") == (7, False)
    assert threads.put("a", "command")[0] != 7


def test_a_file_that_goes_on_goes_on_in_its_turn() -> None:
    threads = Threads()
    threads.resolver.turn_before = lambda: 9
    assert threads.put("b") == (9, False)
    assert threads.put("c", "prompt")[0] != 9
