"""What a scan asks of the whole map at its end: the effort grows with the map, not with its square."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import pytest

from fabula.kernel.records import SourceFile
from fabula.record.ingest.relink import relink
from fabula.record.map.files import insert_file
from fabula.record.map.forget import forget_told_prompts
from fabula.record.map.schema import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable

STEPS = 100  # instructions of SQLite's machine between two counts


def filled(size: int) -> apsw.Connection:
    """Return a map with ``size`` files of a session each, and ten records in each."""
    connection = apsw.Connection("")
    connection.execute(SCHEMA)
    for number in range(1, size + 1):
        kind = "session" if number > 1 else "history"
        file = SourceFile("claude", f"/p/{number}", kind, f"s{number}", 10, 1, 2, 3)
        row = insert_file(connection, file, number, 1).id
        connection.execute("update file_rows set read_to=10 where id=?", (row,))
        connection.executemany(
            "insert into records(uid,session_id,thread_id,file_id,offset,length,kind,role,flags)"
            " values(?,?,?,?,0,1,0,0,0)",
            ((f"u{number}-{each}", number, number, row) for each in range(10)),
        )
    return connection


def effort(job: Callable[[apsw.Connection], object], size: int) -> int:
    connection = filled(size)
    count = 0

    def step() -> bool:
        nonlocal count
        count += 1
        return False

    connection.set_progress_handler(step, STEPS)
    job(connection)
    return count


@pytest.mark.parametrize("job", [forget_told_prompts, relink])
def test_the_effort_grows_with_the_map(job: Callable[[apsw.Connection], object]) -> None:
    assert effort(job, 160) <= 6 * effort(job, 40) + 10


def test_a_prompt_that_a_transcript_tells_is_not_kept_twice() -> None:
    connection = filled(3)
    connection.execute("update records set session_id=2 where uid='u1-4'")
    assert forget_told_prompts(connection) == 1
    assert connection.execute("select count(*) from records where uid='u1-4'").fetchone() == (0,)
