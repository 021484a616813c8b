"""Undoing a composition: the file goes only while nothing was added to it, and every byte of it can be restored."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fabula.app.record import withdrawing
from fabula.app.record.compose import ComposeRequest, ComposeResult, compose
from fabula.app.record.excise import ExciseRequest, excise
from fabula.app.record.restore import RestoreRequest, restore
from fabula.app.record.rewriting import find_target
from fabula.app.record.session import SessionRequest, session
from fabula.app.record.undo import UndoRequest, undo
from fabula.cli.output import Out
from fabula.cli.render.undo import render
from fabula.kernel.errors import FabulaError
from fabula.record.rewriting.gate import is_sealed
from fabula.record.vault.vault import Vault
from fabula.testing.record_home import FixedClock, RecordHome
from fabula.testing.transcripts import ClaudeSession


@pytest.fixture
def home(tmp_path: Path) -> RecordHome:
    return RecordHome(tmp_path)


def composed(home: RecordHome) -> tuple[ComposeResult, bytes]:
    source = ClaudeSession("source")
    for name in ("pivot", "chain"):
        source.prompt(f"Why does the {name} fail?")
        source.tool("Bash", {"command": f"pytest {name}"}, f"{name} output")
        source.reply("By one.")
    home.save(source)
    made = compose(home.app, ComposeRequest((source.id,), apply=True))
    return made, Path(made.path).read_bytes()


def test_a_composed_session_goes_and_can_be_restored(home: RecordHome) -> None:
    made, data = composed(home)
    shown = undo(home.app, UndoRequest(made.session))
    assert (shown.applied, shown.kind, shown.before, shown.after) == (False, "compose", len(data), 0)
    assert Path(made.path).read_bytes() == data
    done = undo(home.app, UndoRequest(made.session, apply=True))
    assert done.applied
    assert not Path(made.path).exists()
    pieces: list[bytes] = []
    render(done, Out(pieces.append))
    assert session(home.app, SessionRequest(made.session)).session.source_gone
    restore(home.app, RestoreRequest(made.path, output=Path(made.path)))
    assert Path(made.path).read_bytes() == data


def test_a_session_that_has_gone_on_stays(home: RecordHome) -> None:
    made, data = composed(home)
    more = {"type": "user", "uuid": "u", "parentUuid": None, "sessionId": made.session, "message": {"content": "on"}}
    for added in (json.dumps(more).encode() + b"\n", b"{", b"not json\n", data.splitlines()[1].replace(
        b'"sessionId":', b'"forkedFrom":{},"sessionId":') + b"\n"):  # fmt: skip
        Path(made.path).write_bytes(data + added)
        with pytest.raises(FabulaError) as error:
            undo(home.app, UndoRequest(made.session, apply=True))
        assert error.value.code == "ERR_CHANGED"
        assert Path(made.path).read_bytes() == data + added


def test_a_record_that_comes_while_the_file_is_checked_is_not_lost(
    home: RecordHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, data = composed(home)

    def late(vault: Vault, generation: int, sealed: bytes) -> bool:
        Path(made.path).write_bytes(data + b'{"type":"late"}\n')
        return is_sealed(vault, generation, sealed)

    target = find_target(home.app, made.session)
    monkeypatch.setattr(withdrawing, "is_sealed", late)
    with pytest.raises(FabulaError) as refused:
        withdrawing.withdraw(home.app, target)
    assert refused.value.code == "ERR_CHANGED"
    assert Path(made.path).read_bytes() == data + b'{"type":"late"}\n'


def test_an_excision_of_a_composed_session_is_taken_back_first(home: RecordHome) -> None:
    made, data = composed(home)
    threads = session(home.app, SessionRequest(made.session)).threads
    past = FixedClock().now // 1000 - 3600
    os.utime(made.path, (past, past))
    excise(home.app, ExciseRequest(made.session, (threads[0].id,), apply=True))
    os.utime(made.path, (past, past))
    assert undo(home.app, UndoRequest(made.session, apply=True)).kind == "excise"
    assert Path(made.path).read_bytes() == data
    assert undo(home.app, UndoRequest(made.session, apply=True)).kind == "compose"
    assert not Path(made.path).exists()
