"""Records of any agent can be cited, also rows of databases, and resolve when every file of every agent is gone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fabula.app.joints.citing import cite, resolve
from fabula.kernel.citations import Citation
from fabula.kernel.errors import FabulaError
from fabula.kernel.ids import unpack_id
from fabula.record.quoting.texts import parts_of
from fabula.testing.opencode_database import OpenCodeDatabase
from fabula.testing.record_home import RecordHome

SAMPLES = Path(__file__).resolve().parents[2] / "data" / "samples" / "home"


def database(folder: Path) -> None:
    rows = OpenCodeDatabase(folder / ".local" / "share" / "opencode" / "opencode.db")
    rows.session("ses_cited")
    rows.message("msg_1", "ses_cited", "user")
    rows.part("prt_1", "msg_1", "ses_cited", type="text", text="when is the zirconium tide out?")
    rows.message("msg_2", "ses_cited", "assistant")
    rows.part("prt_2", "msg_2", "ses_cited", type="text", text="the zirconium tide is out at noon")
    rows.close()


def cite_all(home: RecordHome) -> list[Citation]:
    """Cite every record that says something, by the middle of its first part."""
    found = []
    loader = home.app.loader()
    for uid, *_ in home.rows("select uid from records order by id"):
        (loaded,) = loader.load([loader.row(unpack_id(uid))])
        parts = parts_of(loaded.record)
        if parts:
            text = parts[0].text
            found.append((loaded.row.uid, text[len(text) // 4 :][:60]))
    citations = []
    for record, quote in found:
        try:
            citations.append(cite(home.app, record, quote))
        except FabulaError as error:
            assert error.code == "ERR_QUOTE", error.message  # blanks, or something private
    assert len(citations) > 0.9 * len(found)
    return citations


@pytest.mark.parametrize("sign", ["kept", "gone"])
def test_every_record_of_every_agent_can_be_cited_and_resolved(tmp_path: Path, sign: str) -> None:
    folder = tmp_path / "home"
    shutil.copytree(SAMPLES, folder)
    database(folder)
    home = RecordHome(folder)
    home.scan()
    citations = cite_all(home)
    assert {citation.host for citation in citations} >= {"claude", "codex", "gemini", "opencode", "copilot", "goose"}
    assert any("zirconium" in citation.quote for citation in citations)
    if sign == "gone":
        home.app.record.close()
        for entry in folder.iterdir():
            if entry.name != "fabula":
                shutil.rmtree(entry)
        home.app = home.open()
        home.scan(rebuild=True)
    for citation in citations:
        found = resolve(home.app, citation)
        assert (found.state, found.citation) == ("found", citation), found.note
        assert sign == "kept" or found.origin == "vault"
