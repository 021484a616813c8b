"""``record diff``: what a rewriting did, record by record."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.app.record.diff import DiffRequest, diff
from fabula.app.record.prune import PruneRequest, prune
from fabula.app.record.undo import UndoRequest, undo
from fabula.kernel.errors import FabulaError
from fabula.kernel.values import as_dict
from fabula.record.rewriting.comparing import Item, Pair, compare, difference
from fabula.testing.outcome import Outcome
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession

BULK = "the tide is out " * 60
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def item(uid: str, raw: bytes, offset: int) -> Item:
    return Item(uid, "reply", offset, raw)


def test_equal_bytes_are_kept_the_same_id_is_changed_and_the_rest_went_or_came() -> None:
    before = [item("a", b"1", 0), item("b", b"2", 1), item("", b"x", 2), item("", b"x", 3), item("c", b"3", 4)]
    after = [item("b", b"2!", 0), item("a", b"1", 2), item("", b"x", 3), item("d", b"4", 4), item("", b"y", 5)]
    found = compare(before, after)
    assert (found.kept, found.kept_bytes) == (2, 2)
    assert [(pair.before.raw, pair.after.raw) for pair in found.changed] == [(b"2", b"2!")]
    assert [each.raw for each in found.dropped] == [b"x", b"3"]
    assert [each.raw for each in found.added] == [b"4", b"y"]


def test_differences_are_bounded_and_show_no_secret() -> None:
    long = json.dumps({"a": "x" * 5_000, "rows": list(range(3_000)), "key": SECRET}).encode()
    lines = difference(
        Pair(item("a", long, 0), item("a", b'{"a": 1}', 0)), lambda text: text.replace(SECRET, "[secret]")
    )
    assert len(lines) == 401
    assert max(map(len, lines)) < 450
    assert "more lines" in lines[-1]
    assert SECRET not in "\n".join(lines)
    assert difference(Pair(item("a", b"{torn", 0), item("a", b"{}", 0)), str)[1:] == ["-{torn", "+{}"]


@pytest.fixture
def session(record_home_with_prune: tuple[RecordHome, ClaudeSession]) -> ClaudeSession:
    return record_home_with_prune[1]


@pytest.fixture
def record_home_with_prune(tmp_path: Path) -> tuple[RecordHome, ClaudeSession]:
    home = RecordHome(tmp_path / "home")
    session = ClaudeSession("diff")
    session.prompt("look")
    session.tool("Read", {"file_path": "/tides"}, f"{SECRET} {BULK}")
    session.system("turn_duration", durationMs=1)
    session.reply("done")
    path = home.save(session)
    os.utime(path, (1_770_000_000, 1_770_000_000))
    prune(home.app, PruneRequest(session.id, apply=True))
    return home, session


def test_a_pruning_is_told_record_by_record(record_home_with_prune: tuple[RecordHome, ClaudeSession]) -> None:
    home, session = record_home_with_prune
    told = diff(home.app, DiffRequest(session.id))
    assert (told.before.number, told.after.number, told.after.kind) == (0, 1, "prune")
    assert (told.kept, told.changed, told.dropped, told.added) == (2, 2, 1, 0)
    assert [change.id for change in told.changes] == [session.records[2]["uuid"], session.records[4]["uuid"]]
    assert any(line.startswith("+") and "removed by fabula prune" in line for line in told.changes[0].diff)
    assert "ghp_" not in "".join(told.changes[0].diff)
    assert [line.id for line in told.drops] == [session.records[3]["uuid"]]
    assert told.kept_bytes + told.changed_bytes[0] + told.dropped_bytes == told.before.size - 5  # line ends
    undo(home.app, UndoRequest(session.id, apply=True))
    back = diff(home.app, DiffRequest(session.id, ("0", "2")))
    assert (back.kept, back.changed, back.dropped, back.added, back.after.kind) == (5, 0, 0, 0, "undo")
    assert diff(home.app, DiffRequest(session.id, limit=0)).changes == ()


def test_a_difference_shows_no_private_text(tmp_path: Path) -> None:
    home = RecordHome(tmp_path / "home")
    session = ClaudeSession("private")
    session.prompt("begin")
    session.system("turn_duration", durationMs=1)
    session.prompt("see <private>the hidden word</private> and this")
    for name in ("gitBranch", "isSidechain"):  # beside the mark of a slimmed line stands what was said
        del session.records[-1][name]
    path = home.save(session)
    os.utime(path, (1_770_000_000, 1_770_000_000))
    prune(home.app, PruneRequest(session.id, apply=True))
    told = diff(home.app, DiffRequest(session.id))
    assert told.changed == 1
    assert "see [private] and this" in "".join(told.changes[0].diff)
    assert "hidden" not in json.dumps(as_dict(told.changes[0]))


@pytest.mark.parametrize("numbers", [("0",), ("0", "7"), ("0", "x"), ("0", "1", "2")])
def test_generations_that_are_not_there_are_refused(
    record_home_with_prune: tuple[RecordHome, ClaudeSession], numbers: tuple[str, ...]
) -> None:
    home, session = record_home_with_prune
    with pytest.raises(FabulaError) as refused:
        diff(home.app, DiffRequest(session.id, numbers))
    assert refused.value.code == ("ERR_NOT_FOUND" if numbers == ("0", "7") else "ERR_USAGE")


def test_the_text_shows_sums_differences_and_what_went(
    fabula: Callable[..., Outcome],
    record_home_with_prune: tuple[RecordHome, ClaudeSession],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    home, session = record_home_with_prune
    home.app.record.close()
    monkeypatch.setenv("FABULA_HOME", str(home.app.home.root))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home.claude))
    done = fabula("record", "diff", session.id, "--limit", "1")
    assert done.status == 0
    assert "from generation 0 (original" in done.out
    assert "changed        2 records" in done.out
    assert "and 1 more changed records (--limit)" in done.out
    assert f"dropped {session.records[3]['uuid']}" in done.out
