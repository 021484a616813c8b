"""Taking rewritings back: the bytes return, what came after stays, and what does not fit is refused."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from rewriting_builders import append, at_rest, drop_last_line, entry_of, session_with_bulk, slim_results

from fabula.app.record.block import BlockRequest, block
from fabula.app.record.rewriting import find_target, rewrite
from fabula.app.record.undo import UndoRequest, undo
from fabula.kernel.errors import FabulaError
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession, json_line


@pytest.fixture
def session() -> ClaudeSession:
    return session_with_bulk("undone")


@pytest.fixture
def path(record_home: RecordHome, session: ClaudeSession) -> Path:
    return at_rest(record_home.save(session))


def slim(home: RecordHome, path: Path, rule: Any = slim_results) -> Any:
    at_rest(path)
    return rewrite(home.app, find_target(home.app, str(path)), rule, kind="prune")


def take_back(home: RecordHome, path: Path) -> Any:
    at_rest(path)
    return undo(home.app, UndoRequest(str(path), apply=True))


def more(session: ClaudeSession, number: int) -> bytes:
    """Return what a client appends when the session goes on."""
    before = len(session.records)
    session.tool("Bash", {"command": f"again {number}"}, f"again{number} " * 100)
    return b"".join(map(json_line, session.records[before:]))


def test_the_bytes_come_back_with_what_was_appended_since(
    record_home: RecordHome, session: ClaudeSession, path: Path
) -> None:
    whole = path.read_bytes()
    slim(record_home, path)
    added = more(session, 1)
    append(path, added + b'{"type":"user","uu')  # and a line that is still being written
    preview = undo(record_home.app, UndoRequest(session.id))
    assert (preview.applied, preview.kind, preview.generation) == (False, "prune", 0)
    assert preview.after == len(whole + added) + 18
    assert path.read_bytes() != whole
    done = take_back(record_home, path)
    assert done.applied
    assert path.read_bytes() == whole + added + b'{"type":"user","uu'
    for record, line in zip(session.records, (whole + added).splitlines(), strict=True):
        assert block(record_home.app, BlockRequest(record["uuid"])).to_bytes() == line
    generations = entry_of(record_home, path).generations
    assert [each.provenance for each in generations] == ["original", "slimmed", "original"]


def test_each_undo_goes_one_rewriting_further_back(record_home: RecordHome, session: ClaudeSession, path: Path) -> None:
    first = path.read_bytes()
    slim(record_home, path)
    one, two = more(session, 1), more(session, 2)
    append(path, one)
    once = path.read_bytes()
    slim(record_home, path)
    append(path, two)
    assert b"again1 again1" not in path.read_bytes()
    take_back(record_home, path)
    assert path.read_bytes() == once + two
    take_back(record_home, path)
    assert path.read_bytes() == first + one + two
    with pytest.raises(FabulaError) as refused:
        take_back(record_home, path)
    assert refused.value.code == "ERR_NOT_FOUND"
    slim(record_home, path)
    take_back(record_home, path)
    assert path.read_bytes() == first + one + two
    numbers = [each.number for each in entry_of(record_home, path).generations]
    assert numbers == list(range(7))


def test_a_rewriting_that_only_took_the_end_away_is_undone_once(
    record_home: RecordHome, session: ClaudeSession, path: Path
) -> None:
    whole = path.read_bytes()
    slim(record_home, path, drop_last_line)
    assert whole.startswith(path.read_bytes())
    take_back(record_home, path)
    assert path.read_bytes() == whole
    with pytest.raises(FabulaError):
        take_back(record_home, path)
    assert path.read_bytes() == whole


def test_a_file_that_was_never_rewritten_has_nothing_to_undo(record_home: RecordHome, path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(FabulaError) as refused:
        take_back(record_home, path)
    assert refused.value.code == "ERR_NOT_FOUND"
    assert path.read_bytes() == before


def test_what_another_program_wrote_over_is_left_and_the_way_out_is_named(
    record_home: RecordHome, session: ClaudeSession, path: Path, tmp_path: Path
) -> None:
    whole = path.read_bytes()
    slim(record_home, path)
    path.write_bytes(path.read_bytes().replace(b"quays", b"docks"))
    other = path.read_bytes()
    with pytest.raises(FabulaError) as refused:
        take_back(record_home, path)
    assert refused.value.code == "ERR_CHANGED"
    assert path.read_bytes() == other
    from fabula.app.record.restore import RestoreRequest, restore

    words = refused.value.suggestions[0].split()
    assert words[:3] == ["fabula", "record", "restore"]
    out = tmp_path / "restored"
    restore(record_home.app, RestoreRequest(words[3], int(words[5]), out))
    assert out.read_bytes() == whole


def test_undo_of_a_killed_rewriting_that_never_stood_on_the_disk_is_refused(
    record_home: RecordHome, session: ClaudeSession, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = path.read_bytes()

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", _failing_for(path, fail))
    with pytest.raises(FabulaError) as full:
        slim(record_home, path)
    assert full.value.code == "ERR_DISK"
    monkeypatch.undo()
    assert path.read_bytes() == whole
    with pytest.raises(FabulaError):
        take_back(record_home, path)
    assert path.read_bytes() == whole


def _failing_for(path: Path, fail: Any) -> Any:
    replace = os.replace
    return lambda source, target: fail() if str(target) == str(path) else replace(source, target)
