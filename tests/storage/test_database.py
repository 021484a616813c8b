"""Our databases are opened only when they are ours, whole and of this version."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from fabula.kernel.errors import FabulaError
from fabula.storage.database import database_errors, open_database, open_reader

SCHEMA = "create table t(a)"


def opened(path: Path, version: int = 1, application: int = 77) -> apsw.Connection:
    return open_database(path, schema=SCHEMA, version=version, application=application, durable=True)


def refusal(path: Path, version: int = 1, application: int = 77) -> FabulaError:
    with pytest.raises(FabulaError) as caught:
        opened(path, version, application)
    assert str(path) in caught.value.message
    return caught.value


def test_a_new_database_is_private_and_in_write_ahead_mode(tmp_path: Path) -> None:
    connection = opened(tmp_path / "d.db")
    assert connection.pragma("journal_mode") == "wal"
    assert connection.pragma("synchronous") == 2
    assert (tmp_path / "d.db").stat().st_mode & 0o077 == 0
    connection.close()


def test_what_was_written_is_read_by_a_reader_that_cannot_write(tmp_path: Path) -> None:
    writer = opened(tmp_path / "d.db")
    writer.execute("insert into t values(1)")
    reader = open_reader(tmp_path / "d.db", version=1, application=77)
    assert reader.execute("select a from t").fetchall() == [(1,)]
    with pytest.raises(apsw.ReadOnlyError):
        reader.execute("insert into t values(2)")
    reader.close()
    writer.close()


def test_a_missing_database_is_no_record_and_is_not_created(tmp_path: Path) -> None:
    with pytest.raises(FabulaError) as caught:
        open_reader(tmp_path / "d.db", version=1, application=77)
    assert (caught.value.code, caught.value.suggestions) == ("ERR_NO_RECORD", ("fabula record scan",))
    assert not (tmp_path / "d.db").exists()


def test_another_version_is_refused(tmp_path: Path) -> None:
    opened(tmp_path / "d.db").close()
    assert "has format 1, this Fabula reads 2" in refusal(tmp_path / "d.db", version=2).message


def test_the_database_of_another_program_is_refused(tmp_path: Path) -> None:
    foreign = apsw.Connection(str(tmp_path / "d.db"))
    foreign.execute("create table theirs(x)")
    foreign.close()
    assert "another program" in refusal(tmp_path / "d.db").message
    opened(tmp_path / "e.db").close()
    assert "another program" in refusal(tmp_path / "e.db", application=78).message


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "d.db").write_bytes(b"not a database, but long enough to look at " * 100)
    assert refusal(tmp_path / "d.db").code == "ERR_DATABASE"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (apsw.FullError, "ERR_DISK"),
        (apsw.ReadOnlyError, "ERR_READ_ONLY"),
        (apsw.BusyError, "ERR_LOCKED"),
        (apsw.CorruptError, "ERR_DATABASE"),
        (apsw.IOError, "ERR_DISK"),
        (apsw.CantOpenError, "ERR_DISK"),
    ],
)
def test_refusals_of_the_library_have_codes(error: type[Exception], code: str) -> None:
    with pytest.raises(FabulaError) as caught, database_errors(Path("/d.db")):
        raise error("x")
    assert caught.value.code == code
