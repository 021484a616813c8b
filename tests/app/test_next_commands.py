"""The commands that rewriting verbs suggest are run as they stand, and do what they were suggested for."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.testing.fable_database import FableInstallation
from fabula.testing.outcome import Outcome
from fabula.testing.transcripts import ClaudeSession

BULK = "the tide is out " * 60
LONG_AGO = 1_770_000_000


@pytest.fixture
def session() -> ClaudeSession:
    session = ClaudeSession("next", cwd="/nowhere")
    session.prompt("look at the tides")
    session.tool("Read", {"file_path": "/tides"}, BULK)
    session.reply("the zirconium tide is out")
    session.prompt("and the second thread")
    session.reply("it is there")
    return session


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, session: ClaudeSession) -> Path:
    """A transcript at rest; its folder is reached through a link as well."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude here"))
    path = session.save(tmp_path / "claude here")
    os.utime(path, (LONG_AGO, LONG_AGO))
    return path


def words(command: str) -> list[str]:
    first, *rest = shlex.split(command)
    assert first == "fabula"
    return rest


def test_a_preview_names_the_command_that_does_it_and_that_one_the_way_back(
    fabula: Callable[..., Outcome], path: Path, session: ClaudeSession, tmp_path: Path
) -> None:
    before = path.read_bytes()
    first = session.records[0]["promptId"]
    (tmp_path / "a folder").mkdir()
    for verb in (
        ["prune", session.id, "--only", "results,inputs", "--skip", "inputs"],
        ["prune", str(path), "--mode", "extract", "--strip-images"],
        ["excise", session.id[:8], first],
    ):
        preview = fabula("record", *verb, "--json").data
        assert path.read_bytes() == before
        done = fabula(*words(preview["next"]), "--json").data
        assert (done["applied"], done["after"]) == (True, preview["after"])
        assert len(path.read_bytes()) == done["after"] < len(before)
        undone = fabula(*words(done["next"]), "--json").data
        assert fabula(*words(undone["next"])).status == 0
        assert path.read_bytes() == before
    made = ["compose", first, "--title", "It's a 'title'", "--cwd", str(tmp_path / "a folder"), "--no-thoughts"]
    preview = fabula("record", *made, "--json").data
    done = fabula(*words(preview["next"]), "--json").data
    assert (done["applied"], done["title"], done["cwd"]) == (True, "It's a 'title'", str(tmp_path / "a folder"))
    assert done["next"] == ""
    assert Path(done["path"]).is_file()


def test_an_id_out_of_a_transcript_is_one_word_of_every_command(
    fabula: Callable[..., Outcome], path: Path, session: ClaudeSession
) -> None:
    hostile = "bad id\n'; rm -rf $HOME #"
    for record in session.records:
        record["sessionId"] = hostile
        record["uuid"] = f"; rm {record['uuid']}"
        record["parentUuid"] = record["parentUuid"] and f"; rm {record['parentUuid']}"
        record["promptId"] = f"$(x) {record['promptId']}" if "promptId" in record else None
        record.pop("sourceToolAssistantUUID", None)
    path.write_bytes(session.data())
    os.utime(path, (LONG_AGO, LONG_AGO))
    thread = session.records[0]["promptId"]
    for verb in (["prune", hostile], ["excise", hostile, thread]):
        preview = fabula("record", *verb, "--json").data
        assert words(preview["next"]) == ["record", *verb, "--apply"]
        done = fabula("record", *verb, "--apply", "--json").data
        assert words(done["next"]) == ["record", "undo", hostile]
        for block in path.read_text().split("[removed by fabula prune")[1:]:
            stub = block.split("]", 1)[0].split("— ")
            assert len(stub) == 1 or words(stub[1]) == ["record", "block", "; rm " + words(stub[1])[2][5:]]
        undone = fabula("record", "undo", hostile, "--json").data
        assert words(undone["next"]) == ["record", "undo", hostile, "--apply"]
        fabula("record", "undo", hostile, "--apply")
    preview = fabula("record", "compose", thread, "--json").data
    assert words(preview["next"]) == ["record", "compose", thread, "--apply"]


def test_a_file_is_known_by_every_path_that_leads_to_it(
    fabula: Callable[..., Outcome], path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = tmp_path / "elsewhere"
    projects = path.parents[1]
    projects.rename(real)
    projects.symlink_to(real)
    other = real / path.parent.name / path.name
    monkeypatch.chdir(other.parent)
    for named in (path, other, Path(os.path.relpath(other))):
        name = str(named) if os.sep in str(named) else f"./{named}"
        assert fabula("record", "prune", name, "--json").data["path"] == str(path)
        assert fabula("record", "restore", name).out == path.read_text()
    fabula("record", "prune", str(other), "--apply")
    assert fabula("record", "diff", str(other), "--json").data["path"] == str(path)
    assert fabula("record", "undo", str(other), "--apply", "--json").data["applied"]


def test_a_transcript_that_is_gone_comes_back_by_the_command_that_is_named(
    fabula: Callable[..., Outcome], path: Path
) -> None:
    before = path.read_bytes()
    fabula("record", "scan")
    path.unlink()
    for verb in ("prune", "undo", "excise"):
        refused = json.loads(fabula("record", verb, path.stem, "--json").out)
        assert refused["code"] == "ERR_STALE"
        assert fabula(*words(refused["suggestions"][0])).status == 0
        assert path.read_bytes() == before
        path.unlink()


def test_of_imported_generations_each_verb_names_a_command_that_works(
    fabula: Callable[..., Outcome], path: Path, tmp_path: Path
) -> None:
    made, session = FableInstallation(tmp_path / ".fable"), ClaudeSession("imported")
    session.prompt("an imported tide")
    session.reply("it is out")
    made.session(session)
    made.generation(session, 0)
    made.generation(session, 1, data=session.data()[:100] + b"\n")
    made.close()
    assert path.is_file()
    folder = tmp_path / "two words"
    (tmp_path / ".fable" / "vault").rename(folder)
    preview = fabula("import", "fable", str(tmp_path / ".fable"), "--vault", str(folder), "--json").data
    done = fabula(*words(preview["next"]), "--json").data
    assert (done["applied"], done["generations"]["new"], done["next"]) == (True, 2, "")
    refused = json.loads(fabula("record", "prune", session.id, "--json").out)
    assert "only sealed generations" in refused["error"]
    output = tmp_path / "out.jsonl"
    restore = refused["suggestions"][0].replace("FILE", shlex.quote(str(output)))
    assert fabula(*words(restore)).status == 0
    assert output.read_bytes() == session.data()
    ambiguous = json.loads(fabula("record", "diff", session.id, "--json").out)
    assert ambiguous["code"] == "ERR_AMBIGUOUS"
    assert all(command.startswith("fabula record diff ") for command in ambiguous["suggestions"])
