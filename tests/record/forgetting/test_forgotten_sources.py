"""Cutting what is forgotten out of the agent's own transcript in the same act."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from forgetting_builders import Planted

from fabula.app.record import forget as verb
from fabula.app.record.forget import ForgetRequest, forget
from fabula.app.record.forget_lines import preview_lines
from fabula.app.record.prune import PruneRequest, prune
from fabula.app.record.undo import UndoRequest, undo
from fabula.kernel.errors import FabulaError
from fabula.record.vault.vault import Vault
from fabula.testing.prober import found_in
from fabula.testing.transcripts import json_line

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "Ulmbraketh swims below the ninth bridge every single night"


@pytest.fixture
def planted(tmp_path: Path) -> Planted:
    """A session with a secret in its second thread, and a third; nobody wrote to it lately."""
    planted = Planted(tmp_path)
    session = planted.staying
    session.prompt(SECRET)
    session.reply(f"I will remember that {SECRET}.")
    session.other("last-prompt", lastPrompt=SECRET, leafUuid=session.leaf)
    session.prompt("Something else now, please.")
    session.reply("Gladly.")
    os.utime(planted.home.save(session), (1_700_000_000, 1_700_000_000))
    planted.home.scan()
    return planted


def test_the_lines_go_from_the_transcript_and_the_rest_hangs_together(planted: Planted) -> None:
    preview = forget(planted.home.app, ForgetRequest(pattern="ulmbraketh", sources=True))
    assert preview.cutting == [str(planted.kept)]
    assert "Cut out of your agent's own 1 transcript" in "\n".join(preview_lines(preview))
    result = planted.forget(pattern="ulmbraketh", sources=True)
    data = planted.kept.read_bytes()
    assert b"Ulmbraketh" not in data
    assert [(one.cut, one.staying) for one in result.cut] == [(3, 0)]
    lines = data.splitlines(keepends=True)
    records = [record for record in planted.staying.records if SECRET not in json_line(record).decode()]
    assert len(lines) == len(records)
    assert [line for line in lines if line in map(json_line, records)] == lines[:-2] + lines[-1:]  # one was linked anew
    planted.reopen()
    planted.home.scan()
    assert found_in(planted.root, ["ulmbraketh"]) == []
    with pytest.raises(FabulaError) as caught:
        undo(planted.home.app, UndoRequest(planted.staying.id, apply=True))
    assert caught.value.code in {"ERR_FORGOTTEN", "ERR_NOT_FOUND"}
    assert planted.kept.read_bytes() == data


def test_a_session_in_use_is_neither_cut_nor_forgotten(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    now = planted.home.clock.now_ms() / 1000
    os.utime(planted.kept, (now, now))
    before = planted.kept.read_bytes()
    asked: list[object] = []
    monkeypatch.setattr(verb, "require_consent", lambda *_: asked.append(1))
    with pytest.raises(FabulaError) as caught:
        forget(planted.home.app, ForgetRequest(pattern="ulmbraketh", sources=True, apply=True))
    assert caught.value.code == "ERR_LIVE"
    assert asked == []  # nobody agrees to what cannot be done
    assert not any("--live" in each for each in caught.value.suggestions)
    assert planted.kept.read_bytes() == before
    planted.reopen()
    planted.home.scan()
    assert found_in(planted.root, ["ulmbraketh"])


def test_a_file_of_which_nothing_would_stay_is_left_to_its_agent(planted: Planted) -> None:
    preview = forget(planted.home.app, ForgetRequest((planted.doomed.id,), sources=True))
    assert str(planted.transcript) not in preview.cutting


def test_a_state_that_a_killed_rewriting_left_in_the_vault_is_mapped_once(planted: Planted) -> None:
    """Killed between the commit of the vault and that of the map; then the file on disk goes on with that state."""
    home = planted.home
    planted.forget(pattern="ulmbraketh")
    data = planted.kept.read_bytes()
    spans, at = [], 0
    for line in data.splitlines(keepends=True):
        spans.append((at, len(line) - 1))
        at += len(line)
    home.app.record.close()
    with Vault.open(planted.root / "vault", home.clock) as vault:
        [source] = [each for each in vault.sources() if each.path == str(planted.kept)]
        vault.append(vault.begin(source.id, provenance="original", immutable=False).id, 0, data, spans)
        vault.commit()
    planted.reopen()
    home.scan()
    for _ in range(3):
        with suppress(FabulaError):  # what was forgotten cannot be pruned
            prune(home.app, PruneRequest(planted.staying.id, apply=True))
    home.scan()
    rows = home.rows("select vault_generation, count(*) from files group by vault_generation having count(*) > 1")
    assert rows == []
