"""``record prune`` and ``record undo`` as a person and an agent call them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabula.app.record.block import BlockRequest, block
from fabula.app.record.prune import PruneRequest, prune
from fabula.app.record.undo import UndoRequest, undo
from fabula.testing.outcome import Outcome
from fabula.testing.record_home import RecordHome
from fabula.testing.rollouts import CodexRollout
from fabula.testing.terminal import on_terminal
from fabula.testing.transcripts import ClaudeSession

BULK = "the tide is out " * 60
LONG_AGO = 1_770_000_000


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A transcript at rest, in the Claude Code folder that the command line looks at."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    path = talk().save(tmp_path / "claude")
    os.utime(path, (LONG_AGO, LONG_AGO))
    return path


def talk() -> ClaudeSession:
    session = ClaudeSession("prune-verb")
    session.prompt("look at the tides")
    session.tool("Read", {"file_path": "/tides"}, BULK, detail={"file": BULK})
    session.reply("the zirconium tide is out")
    session.compact("all of it")
    return session


def test_a_preview_says_what_each_category_saves_and_writes_nothing(
    fabula: Callable[..., Outcome], path: Path, tmp_path: Path
) -> None:
    before = path.read_bytes()
    done = fabula("record", "prune", path.stem[:8], "--json").data
    assert (done["applied"], done["before"], done["slimmed_generation"]) == (False, len(before), None)
    assert path.read_bytes() == before
    assert os.stat(path).st_mtime == LONG_AGO
    lines = {line["key"]: line for line in done["categories"]}
    assert lines["results"]["records"] == lines["tool-use-result"]["records"] == 1
    assert lines["walls"] == {**lines["walls"], "chosen": False, "records": 2}
    text = fabula("record", "prune", path.stem[:8])
    assert "would be" in text.out
    assert f"do it: fabula record prune {path.stem[:8]} --apply" in text.out
    assert "not taken" in text.out


def test_applied_it_is_smaller_and_undone_it_is_as_it_was(fabula: Callable[..., Outcome], path: Path) -> None:
    before = path.read_bytes()
    done = fabula("record", "prune", path.stem, "--apply", "--json").data
    assert done["applied"]
    assert done["after"] == len(path.read_bytes()) < len(before)
    assert "nothing to take out" in fabula("record", "prune", path.stem, "--apply").out
    assert "record undo" in done["next"]
    assert "would take back the prune" in fabula("record", "undo", path.stem).out
    assert path.read_bytes() != before
    assert "took back the prune" in fabula("record", "undo", path.stem, "--apply").out
    assert path.read_bytes() == before
    again = fabula("record", "undo", path.stem, "--apply", "--json")
    assert (again.status, json.loads(again.out)["code"]) == (1, "ERR_NOT_FOUND")
    assert "was taken back" in again.out
    path.write_bytes(b'{"type":"mode","sessionId":"other"}\n')
    os.utime(path, (LONG_AGO, LONG_AGO))
    other = fabula("record", "undo", str(path), "--apply")
    assert (other.status, "ERR_CHANGED" in other.err) == (1, True)
    assert f"record restore {path} --generation 0" in other.err


def test_a_map_made_anew_over_a_slimmed_session_is_the_one_that_was_there(
    fabula: Callable[..., Outcome], path: Path
) -> None:
    def told() -> tuple[object, ...]:
        stats = fabula("record", "stats", "--all", "--json").data
        found = [fabula("record", "search", word, "--all", "--json").data["hits"] for word in ("tide", "removed")]
        scores = [[(hit["thread"], hit["record"], hit["score"]) for hit in hits] for hits in found]
        return stats["total"], stats["map"], scores

    fabula("record", "prune", path.stem, "--apply")
    with path.open("ab") as file:
        file.write(
            b'{"type":"user","uuid":"late","sessionId":"%s","message":{"role":"user","content":"and late"}}\n'
            % path.stem.encode()
        )
    before = told()
    assert before[1]["files"] == 1  # type: ignore[index]
    status = fabula("status", "--json").data["map"]
    assert (status["files"], status["sessions"]) == (1, 1)
    again = fabula("record", "rebuild", "--json").data
    assert (again["files"], again["sessions"], again["records"]) == (1, 1, status["records"])
    assert told() == before
    fabula("record", "undo", path.stem, "--apply", "--json")
    fabula("record", "rebuild")
    path.unlink()
    fabula("record", "rebuild")
    gone = told()
    assert gone[1] == {**before[1], "vanished": 1}  # type: ignore[dict-item]
    assert gone[0] == before[0]


@pytest.mark.parametrize(
    ("options", "gone", "stays"),
    [
        (("--only", "results"), "content", "toolUseResult"),
        (("--skip", "results,tool-use-result"), "", "toolUseResult"),
        (("--only", "walls"), "compact_boundary", "toolUseResult"),
        (("--mode", "extract"), "compact_boundary", "zirconium"),
        (("--only", "tool-use-result", "--only", "walls"), "toolUseResult", "zirconium"),
    ],
)
def test_categories_are_chosen_by_name(
    fabula: Callable[..., Outcome], path: Path, options: tuple[str, ...], gone: str, stays: str
) -> None:
    before = path.read_bytes()
    done = fabula("record", "prune", path.stem, *options, "--apply")
    assert done.status == 0
    after = path.read_text()
    assert stays in after
    if gone == "content":
        assert after.count(BULK) == 1  # in the second copy
    elif gone:
        assert gone not in after
    else:
        assert after.encode() == before


@pytest.mark.parametrize(
    ("words", "code", "status"),
    [
        (("prune", "SESSION", "--only", "nonsense"), "ERR_USAGE", 2),
        (("prune", "SESSION", "--mode", "handoff"), "ERR_USAGE", 2),
        (("prune", "%"), "ERR_NOT_FOUND", 1),
        (("prune", ""), "ERR_NOT_FOUND", 1),
        (("prune", "no-such-session", "--apply"), "ERR_NOT_FOUND", 1),
        (("undo", "SESSION", "--apply"), "ERR_NOT_FOUND", 1),
        (("diff", "SESSION"), "ERR_NOT_FOUND", 1),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(
    fabula: Callable[..., Outcome], path: Path, words: tuple[str, ...], code: str, status: int
) -> None:
    before = path.read_bytes()
    done = fabula("record", *(path.stem if word == "SESSION" else word for word in words), "--json")
    assert (json.loads(done.out)["code"], done.status) == (code, status)
    assert path.read_bytes() == before


def test_a_session_of_another_agent_is_refused_with_the_reason(
    fabula: Callable[..., Outcome], path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    rollout = CodexRollout("other")
    rollout.begin()
    rollout.prompt("hello")
    saved = rollout.save(tmp_path / "codex")
    before = saved.read_bytes()
    fabula("record", "scan")
    session = next(
        s["id"] for s in fabula("record", "sessions", "--all", "--json").data["sessions"] if s["host"] == "codex"
    )
    done = fabula("record", "prune", session, "--apply", "--json")
    assert (done.status, json.loads(done.out)["code"]) == (1, "ERR_HOST")
    assert "claude alone" in json.loads(done.out)["error"]
    assert saved.read_bytes() == before


def test_a_file_that_is_no_transcript_is_refused(fabula: Callable[..., Outcome], path: Path) -> None:
    side = path.parents[2] / "history.jsonl"
    side.write_text('{"display":"look","timestamp":1}\n')
    results = path.parent / path.stem / "tool-results"
    results.mkdir(parents=True)
    (results / "one.txt").write_text(BULK)
    for named in (side, results / "one.txt"):
        done = fabula("record", "prune", str(named), "--apply", "--json")
        assert (done.status, json.loads(done.out)["code"]) == (1, "ERR_HOST")
    assert fabula("record", "prune", str(path), "--json").data["session"] == path.stem


def test_a_session_whose_transcript_is_gone_names_the_command_that_brings_it_back(
    fabula: Callable[..., Outcome], path: Path
) -> None:
    whole = path.read_bytes()
    fabula("record", "scan")
    path.unlink()
    done = fabula("record", "prune", path.stem, "--apply", "--json")
    assert json.loads(done.out)["code"] == "ERR_STALE"
    words = json.loads(done.out)["suggestions"][0].split()
    assert fabula(*words[1:]).status == 0
    assert path.read_bytes() == whole
    os.utime(path, (LONG_AGO, LONG_AGO))
    assert fabula("record", "prune", path.stem, "--apply").status == 0


def test_a_session_in_use_needs_a_person_at_a_terminal(
    fabula: Callable[..., Outcome], path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.utime(path)
    before = path.read_bytes()
    refused = fabula("record", "prune", path.stem, "--apply", "--json")
    assert (refused.status, json.loads(refused.out)["code"]) == (3, "ERR_LIVE")
    command = [sys.executable, "-m", "fabula", "record", "prune", path.stem, "--apply", "--live"]
    assert "ERR_CONSENT" in on_terminal(command, os.environ, "yes").output
    assert path.read_bytes() == before
    assert "take it back" in on_terminal(command, os.environ, "rewrite").output
    assert len(path.read_bytes()) < len(before)


TURNS = st.lists(
    st.sampled_from(["prompt", "read", "write", "fail", "noise", "title", "think", "compact", "strange", "queue"]),
    min_size=1,
    max_size=12,
)


def spoken(turns: list[str]) -> ClaudeSession:
    session = ClaudeSession("any")
    session.prompt("begin")
    acts: dict[str, Callable[[int], Any]] = {
        "prompt": lambda n: session.prompt(f"and {n}?", image=n % 2 == 0),
        "read": lambda n: session.tool("Read", {"file_path": f"/{n % 2}"}, f"{n} {BULK}", detail={"n": BULK}),
        "write": lambda n: session.tool("Write", {"file_path": "/0", "content": f"{n} {BULK}"}, "ok"),
        "fail": lambda n: session.tool("Bash", {"command": BULK}, f"{n} é {BULK}", failed=True),
        "noise": lambda n: session.system("turn_duration", durationMs=n),
        "title": lambda n: session.title(f"title {n}"),
        "think": lambda n: session.reply(f"so {n}", thought=BULK),
        "compact": lambda n: session.compact(f"summary {n}"),
        "strange": lambda n: session.other("of-next-year", n=n, uuid=f"strange-{n}", parentUuid=session.leaf),
        "queue": lambda n: session.other("queue-operation", operation="enqueue", content=f"queued {n}"),
    }
    for number, turn in enumerate(turns):
        acts[turn](number)
    return session


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(TURNS, st.sampled_from(["resume", "extract"]), st.sampled_from([b"", b"\r\n{torn\xff", b'{"type":"user","uu']))
def test_whatever_was_said_is_served_whole_after_pruning_and_comes_back(
    tmp_path_factory: pytest.TempPathFactory, turns: list[str], mode: Any, tail: bytes
) -> None:
    home = RecordHome(tmp_path_factory.mktemp("any"))
    session = spoken(turns)
    path = home.write(session.relative_path(), session.data() + tail)
    whole = path.read_bytes()
    os.utime(path, (LONG_AGO, LONG_AGO))
    done = prune(home.app, PruneRequest(session.id, apply=True, mode=mode, strip_images=True))
    slim = path.read_bytes()
    assert len(slim) <= len(whole)
    assert slim.endswith(tail)
    assert not prune(home.app, PruneRequest(session.id, apply=True, mode=mode, strip_images=True)).applied

    def all_served() -> None:
        for record in session.records:
            if "uuid" in record:
                raw = block(home.app, BlockRequest(record["uuid"])).to_bytes()
                assert json.loads(raw) == record

    all_served()
    if done.applied:
        undo(home.app, UndoRequest(session.id, apply=True))
    assert path.read_bytes() == whole
    all_served()
    path.unlink()
    all_served()
    home.app.record.close()
