"""The protocol: what is taken out was sealed, what the host writes meanwhile stays, and a refusal changes nothing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from rewriting_builders import (
    BULK,
    LONG_AGO,
    append,
    at_rest,
    entry_of,
    sealed_bytes,
    session_with_bulk,
    slim_results,
)

from fabula.app.record import rewriting
from fabula.app.record.block import BlockRequest, block
from fabula.app.record.forget import ForgetRequest, forget
from fabula.app.record.rewriting import find_target, rewrite
from fabula.kernel.errors import FabulaError
from fabula.record.map.schema import SLIMMED
from fabula.record.rewriting.plan import Snapshot
from fabula.record.rewriting.source import temporary_name
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession, json_line


@pytest.fixture
def session() -> ClaudeSession:
    return session_with_bulk()


@pytest.fixture
def path(record_home: RecordHome, session: ClaudeSession) -> Path:
    return at_rest(record_home.save(session))


def slim(home: RecordHome, session: ClaudeSession) -> Any:
    target = find_target(home.app, session.id)
    at_rest(Path(target.path))
    return rewrite(home.app, target, slim_results, kind="prune")


def meanwhile(monkeypatch: pytest.MonkeyPatch, act: Any) -> None:
    """Act once the file was read and planned, before the new one is written."""
    calls: list[int] = []

    def idle(*_: Any, **__: Any) -> None:
        calls.append(1)
        if len(calls) == 2:
            act()

    monkeypatch.setattr(rewriting, "require_idle", idle)


def served(home: RecordHome, session: ClaudeSession) -> list[bytes]:
    return [block(home.app, BlockRequest(record["uuid"])).to_bytes() for record in session.records]


def test_the_file_is_slim_and_every_record_is_served_whole(
    record_home: RecordHome, session: ClaudeSession, path: Path
) -> None:
    before = path.read_bytes()
    path.chmod(0o640)
    at_rest(path)
    done = slim(record_home, session)
    after = path.read_bytes()
    assert (done.before, done.after, done.old, done.new) == (len(before), len(after), 0, 1)
    assert len(after) < len(before) / 2
    untouched = [line for line in before.splitlines() if b"tool_result" not in line]
    assert [line for line in after.splitlines() if b"tool_result" not in line] == untouched
    assert [line + b"\n" for line in served(record_home, session)] == before.splitlines(keepends=True)
    assert record_home.found("quay2") == 1
    assert record_home.rows("select count(*) from records where flags & ?", SLIMMED) == [(0,)]
    assert os.stat(path).st_mode & 0o777 == 0o640
    assert os.stat(path).st_mtime == LONG_AGO
    assert os.listdir(path.parent) == [path.name]
    path.unlink()
    assert [line + b"\n" for line in served(record_home, session)] == before.splitlines(keepends=True)


def test_generations_say_what_they_are_and_a_scan_begins_none(
    record_home: RecordHome, session: ClaudeSession, path: Path
) -> None:
    before = path.read_bytes()
    slim(record_home, session)
    record_home.scan()
    append(path, json_line({"type": "user", "uuid": "a" * 8, "message": {"role": "user", "content": "more"}}))
    record_home.scan()
    slim(record_home, session_with_bulk())  # nothing to do
    generations = entry_of(record_home, path).generations
    assert [(each.number, each.provenance) for each in generations] == [(0, "original"), (1, "slimmed")]
    assert sealed_bytes(record_home, path, 0) == before
    assert sealed_bytes(record_home, path, 1) == path.read_bytes()


def test_what_the_host_appended_after_a_rewriting_is_no_slimmed_copy_in_a_map_made_anew(
    record_home: RecordHome, session: ClaudeSession, path: Path
) -> None:
    slim(record_home, session)
    added = session.tool("Bash", {"command": "later"}, f"later {BULK}")
    append(path, b"".join(map(json_line, session.records[-2:])))
    record_home.scan()
    slim(record_home, session)
    whole = served(record_home, session)
    assert BULK.encode() in record_home.raw(added)
    record_home.scan(rebuild=True)
    assert served(record_home, session) == whole
    assert record_home.rows("select count(*) from records where flags & ?", SLIMMED) == [(0,)]


@pytest.mark.parametrize("ending", [b"", b'{"type":"user","uuid":"torn","mess'])
def test_what_is_appended_between_the_read_and_the_replacement_stands_behind_once(
    record_home: RecordHome, session: ClaudeSession, path: Path, monkeypatch: pytest.MonkeyPatch, ending: bytes
) -> None:
    append(path, ending)
    at_rest(path)
    more = (b'age":{}}\n' if ending else b"") + json_line({"type": "user", "uuid": "late", "message": {}})
    meanwhile(monkeypatch, lambda: append(path, more))
    done = slim(record_home, session)
    assert done.tail == len(more)
    after = path.read_bytes()
    assert after.endswith(ending + more)
    assert after.count(b'"late"') == 1
    assert BULK.encode() not in after
    assert record_home.raw("late") == more.splitlines()[-1]


def test_what_is_written_at_the_last_moment_is_carried_over(
    record_home: RecordHome, session: ClaudeSession, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = json_line({"type": "user", "uuid": "very-late", "message": {}})
    replace = os.replace

    def slow_replace(source: Any, target: Any) -> None:
        if str(target) == str(path):
            append(path, late)
        replace(source, target)

    monkeypatch.setattr(os, "replace", slow_replace)
    slim(record_home, session)
    assert path.read_bytes().endswith(late)
    monkeypatch.undo()
    assert record_home.raw("very-late") + b"\n" == late


@pytest.mark.parametrize("how", ["another file", "edited", "shorter"])
def test_a_file_that_is_not_what_was_read_is_left_as_it_is(
    record_home: RecordHome, session: ClaudeSession, path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    before = path.read_bytes()
    changed = {"another file": before + b"{}\n", "edited": before.replace(b"quay", b"dock"), "shorter": before[:-9]}[
        how
    ]

    def change() -> None:
        if how == "another file":
            (path.parent / "other").write_bytes(changed)
            os.replace(path.parent / "other", path)
        else:
            path.write_bytes(changed)

    meanwhile(monkeypatch, change)
    with pytest.raises(FabulaError, match="nothing was changed") as refused:
        slim(record_home, session)
    assert refused.value.code == "ERR_CHANGED"
    assert path.read_bytes() == changed
    assert os.listdir(path.parent) == [path.name]
    monkeypatch.undo()
    done = slim(record_home, session)
    numbers = [each.number for each in entry_of(record_home, path).generations]
    assert numbers == list(range(len(numbers)))  # the one that never stood on the disk has its number for good
    assert done.new == numbers[-1] > 1


def test_an_edit_in_place_that_a_scan_did_not_see_is_sealed_before_it_is_rewritten(
    record_home: RecordHome, session: ClaudeSession, path: Path
) -> None:
    record_home.scan()
    edited = path.read_bytes().replace(b"quay0", b"wharf")
    with path.open("r+b") as file:
        file.write(edited)
    at_rest(path)
    slim(record_home, session)
    assert sealed_bytes(record_home, path, 1) == edited
    assert [each.provenance for each in entry_of(record_home, path).generations] == ["original", "original", "slimmed"]


def test_nothing_is_taken_out_whose_sealed_copy_is_damaged(
    record_home: RecordHome, session: ClaudeSession, path: Path
) -> None:
    for number in range(400):
        session.reply(f"so many {number} {os.urandom(600).hex()}")  # enough to fill a frame of a pack
    path.write_bytes(session.data())
    at_rest(path)
    record_home.scan()
    pack = next((record_home.app.home.vault / "packs").glob("records-*"))
    with pack.open("r+b") as file:
        file.seek(20_000)  # in the first frame, which holds the results
        file.write(b"\x55" * 64)
    before = path.read_bytes()
    with pytest.raises(FabulaError) as refused:
        slim(record_home, session)
    assert refused.value.code == "ERR_UNSEALED"
    assert path.read_bytes() == before


def test_a_rewriting_that_dies_before_the_replacement_leaves_the_old_file_growing_in_its_own_generation(
    record_home: RecordHome, session: ClaudeSession, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = path.read_bytes()

    class DiedError(Exception):
        """Stands for a kill."""

    def die(*_: Any) -> None:
        raise DiedError

    monkeypatch.setattr("fabula.record.rewriting.source.OpenSource._settle", die)
    with pytest.raises(DiedError):
        slim(record_home, session)
    monkeypatch.undo()
    assert path.read_bytes() == before
    append(path, json_line({"type": "user", "uuid": "on-we-go", "message": {}}))
    record_home.scan()
    assert sealed_bytes(record_home, path, 0) == path.read_bytes()
    assert slim(record_home, session.__class__("bulk")).new == 2
    assert sealed_bytes(record_home, path, 2) == path.read_bytes()


def test_what_a_killed_rewriting_left_is_cleared_by_the_next_command(
    record_home: RecordHome, session: ClaudeSession, path: Path
) -> None:
    left = Path(temporary_name(str(path)))
    left.write_bytes(b"half")
    (record_home.app.home.root).mkdir(exist_ok=True)
    (record_home.app.home.root / "rewriting").write_bytes(os.fsencode(left))
    record_home.scan()
    assert not left.exists()
    assert not (record_home.app.home.root / "rewriting").exists()
    assert path.exists()


def test_a_rule_that_refuses_changes_nothing(record_home: RecordHome, session: ClaudeSession, path: Path) -> None:
    before = path.read_bytes()

    def refuse(_: Snapshot) -> Any:
        raise FabulaError("ERR_CHAIN", "no")

    with pytest.raises(FabulaError, match="no"):
        rewrite(record_home.app, find_target(record_home.app, session.id), refuse, kind="prune")
    assert path.read_bytes() == before
    assert len(entry_of(record_home, path).generations) == 1


def test_a_vault_that_was_put_in_place_of_another_is_asked_and_not_the_map_of_the_other(
    record_home: RecordHome, session: ClaudeSession, path: Path
) -> None:
    before = path.read_bytes()
    home = record_home.app.home
    record_home.scan()
    shutil.copytree(home.vault, home.root / "kept")
    shutil.rmtree(home.vault)
    record_home.app = record_home.open()
    slim(record_home, session)
    shutil.rmtree(home.vault)
    shutil.move(home.root / "kept", home.vault)
    path.write_bytes(before)
    record_home.app = record_home.open()
    slim(record_home, session)
    assert [line + b"\n" for line in served(record_home, session)] == before.splitlines(keepends=True)
    assert [each.provenance for each in entry_of(record_home, path).generations] == ["original", "slimmed"]


def test_a_folder_that_cannot_be_written_is_named_with_the_command_that_clears_it(
    record_home: RecordHome, session: ClaudeSession, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = path.read_bytes()
    opened = os.open

    def barred(name: Any, flags: int, *rest: Any, **more: Any) -> int:
        if str(name).endswith(".fabula-tmp"):
            raise PermissionError(13, "Permission denied")
        return opened(name, flags, *rest, **more)

    monkeypatch.setattr(os, "open", barred)
    with pytest.raises(FabulaError) as refused:
        slim(record_home, session)
    assert refused.value.code == "ERR_READ_ONLY"
    assert refused.value.suggestions[0].endswith(f"chmod -R u+rwX {path.parent}")
    assert path.read_bytes() == before


@pytest.mark.parametrize("forgotten", [0, 2], ids=["the prompt", "a result"])
def test_what_was_forgotten_on_purpose_is_not_sealed_again_nor_taken_out(
    record_home: RecordHome, session: ClaudeSession, path: Path, monkeypatch: pytest.MonkeyPatch, forgotten: int
) -> None:
    record_home.scan()
    monkeypatch.setattr("fabula.app.record.forget.require_consent", lambda *_: None)
    uuid = session.records[forgotten]["uuid"]
    forget(record_home.app, ForgetRequest((uuid,), apply=True))
    before = path.read_bytes()
    if forgotten:
        with pytest.raises(FabulaError, match="forgotten on purpose") as refused:
            slim(record_home, session)
        assert refused.value.code == "ERR_UNSEALED"
        assert path.read_bytes() == before
        return
    done = slim(record_home, session)
    assert path.read_bytes().splitlines()[0] == before.splitlines()[0]
    with pytest.raises(FabulaError) as gone:
        record_home.raw(uuid)
    assert gone.value.code == "ERR_NOT_FOUND"
    with pytest.raises(FabulaError) as hole:
        sealed_bytes(record_home, path, done.new)
    assert hole.value.code == "ERR_FORGOTTEN"
