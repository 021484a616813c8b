"""A map that another version of Fabula wrote: it is derived, so it is begun anew without a word from anybody."""

from __future__ import annotations

import apsw
import pytest

from fabula.app.record.search import SearchRequest, search
from fabula.app.record.title import TitleRequest, title
from fabula.kernel.errors import FabulaError
from fabula.record.map.schema import VERSION
from fabula.storage.locks import FileLock
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession


@pytest.fixture(params=[VERSION - 1, VERSION + 1], ids=["older", "newer"])
def home(request: pytest.FixtureRequest, record_home: RecordHome) -> RecordHome:
    session = ClaudeSession("one")
    session.prompt("where does the zigzag parser wait")
    record_home.save(session)
    record_home.scan()
    record_home.app.record.close()
    connection = apsw.Connection(str(record_home.app.home.map))
    connection.execute("drop view files")
    connection.execute(f"pragma user_version={request.param}")
    connection.close()
    record_home.app = record_home.open()
    return record_home


def version(home: RecordHome) -> int:
    return int(home.map.pragma("user_version") or 0)


def test_a_scan_begins_it_anew(home: RecordHome) -> None:
    report = home.scan()
    assert (report.files_read, report.records_added) == (1, 1)
    assert version(home) == VERSION


def test_a_read_begins_it_anew_and_answers(home: RecordHome) -> None:
    result = search(home.app, SearchRequest("zigzag", all=True))
    assert [hit.excerpt for hit in result.hits] == ["where does the zigzag parser wait"]
    assert result.fresh.fresh


def test_a_process_that_reads_notices_that_another_version_took_the_map_away(home: RecordHome) -> None:
    home.scan()
    reader = home.open()
    assert search(reader, SearchRequest("zigzag", all=True)).hits
    connection = apsw.Connection(str(home.app.home.map))
    connection.execute(f"pragma user_version={VERSION + 1}")
    connection.close()
    home.open().record.scan()
    assert search(reader, SearchRequest("zigzag", all=True)).hits


def test_while_another_process_writes_the_read_says_what_is_wrong(home: RecordHome) -> None:
    with FileLock(home.app.home.lock, 1.0), pytest.raises(FabulaError) as refused:
        search(home.app, SearchRequest("zigzag", all=True))
    assert refused.value.code == "ERR_DATABASE"
    assert refused.value.suggestions == ("fabula record rebuild",)
    assert home.scan().files_read == 1


def test_a_title_given_meanwhile_is_kept(home: RecordHome) -> None:
    home.scan()
    (uid,) = {hit.session for hit in search(home.app, SearchRequest("zigzag", all=True)).hits}
    title(home.app, TitleRequest(uid, "The waiting parser"))
    home.app.record.close()
    connection = apsw.Connection(str(home.app.home.map))
    connection.execute(f"pragma user_version={VERSION + 1}")
    connection.close()
    result = search(home.open(), SearchRequest("waiting", all=True))
    assert [hit.session for hit in result.hits] == [uid]
