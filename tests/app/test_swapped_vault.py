"""A process that goes on reads the vault that is there, not the one that was there when it began."""

from __future__ import annotations

import shutil
from pathlib import Path

from fabula.app.record.search import SearchRequest, search
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession


def test_a_map_made_anew_reads_the_vault_that_was_put_in_its_place(tmp_path: Path) -> None:
    home = RecordHome(tmp_path / "home")
    session = ClaudeSession("one")
    session.prompt("the otter waits by the weir")
    home.save(session)
    assert search(home.app, SearchRequest("otter", all=True)).hits
    before = home.app.vault()
    assert before is not None
    shutil.rmtree(home.app.home.vault)

    home.app.record.scan(rebuild=True)

    after = home.app.vault()
    assert after is not None
    assert after is not before
    assert len(after.sources()) == 1
