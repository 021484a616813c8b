"""Composing sessions that happened in every way: whole, in order, and every record accounted for."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.app.record.compose import ComposeRequest, compose
from fabula.kernel.errors import FabulaError
from fabula.kernel.ids import unpack_id
from fabula.testing.record_home import RecordHome
from fabula.testing.stories import story


@settings(max_examples=12, deadline=None)
@given(st.randoms(use_true_random=False))
def test_every_record_goes_in_or_is_counted_and_what_goes_in_is_whole(random: Random) -> None:
    with TemporaryDirectory() as folder:
        home = RecordHome(Path(folder))
        sources = [story(random, seed=f"s{number}", prompts=2) for number in range(2)]
        for source in sources:
            home.save(source)
        home.scan()
        rows = home.rows("select uid, records from threads")
        counts = {unpack_id(uid): number for uid, number in rows}
        chosen = random.sample(sorted(counts), random.randint(1, len(counts)))
        try:
            made = compose(home.app, ComposeRequest(tuple(chosen), apply=True))
        except FabulaError as error:
            assert error.code == "ERR_NOT_FOUND"  # a thread of which nothing can be taken over
            return
        assert [line.id for line in made.threads] == chosen
        for line in made.threads:
            assert line.records + sum(line.left_out.values()) == counts[line.id]
        records = [json.loads(line) for line in Path(made.path).read_bytes().splitlines()]
        assert_whole(records)
        order = {
            record["uuid"]: at for source in sources for at, record in enumerate(source.records) if "uuid" in record
        }
        for thread in chosen:
            own = part(records, thread)
            places = [order[record["fabulaComposedFrom"]] for record in own]
            assert places == sorted(places)
        assert {unpack_id(uid): number for uid, number in home.rows("select uid, records from threads")}.items() >= (
            counts.items()
        )


def assert_whole(records: list[dict[str, object]]) -> None:
    """Check that the records are one chain in their order, and that no call or result is alone or comes twice."""
    named = [record for record in records if "uuid" in record]
    assert [record["parentUuid"] for record in named] == [None, *(record["uuid"] for record in named[:-1])]
    asked: list[str] = []
    answered: list[str] = []
    for record in named:
        message = record.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else ():
            if block["type"] == "tool_use":
                asked.append(block["id"])
            elif block["type"] == "tool_result":
                assert block["tool_use_id"] in asked
                answered.append(block["tool_use_id"])
    assert sorted(asked) == sorted(answered)
    assert len(set(asked)) == len(asked)


def part(records: list[dict[str, object]], thread: str) -> list[dict[str, object]]:
    """Return the copies behind the seam of a thread."""
    found: list[dict[str, object]] = []
    inside = False
    for record in records:
        seam = record.get("fabulaSeam")
        if isinstance(seam, dict):
            inside = seam["thread"] == thread
        elif inside and "uuid" in record:
            found.append(record)
    return found
