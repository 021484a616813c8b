"""Taking threads out of a session, through the whole record: previewed, sealed, and still there afterwards."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fabula.app.record.excise import ExciseRequest, ExciseResult, excise
from fabula.app.record.session import SessionRequest, session
from fabula.app.record.thread import ThreadRequest, thread
from fabula.cli.output import Out
from fabula.cli.render.excise import render
from fabula.kernel.errors import FabulaError
from fabula.record.excising.suggesting import NOISE, SUBAGENTS, SUPERSEDED, ThreadFacts, suggest
from fabula.testing.record_home import FixedClock, RecordHome
from fabula.testing.rollouts import CodexRollout
from fabula.testing.transcripts import ClaudeSession


@pytest.fixture
def home(tmp_path: Path) -> RecordHome:
    return RecordHome(tmp_path)


def three(*, big: int = 0) -> ClaudeSession:
    session = ClaudeSession("three")
    for name in ("pivot", "chain", "sled"):
        session.prompt(f"Why does the {name} fail?")
        output = f"{name} output " + ("x" * big if name == "chain" else "")
        session.tool("Bash", {"command": f"pytest {name}"}, output)
        session.reply(f"The {name} was off by one.")
    return session


def prompts(session: ClaudeSession) -> list[str]:
    return list(dict.fromkeys(record["promptId"] for record in session.records if "promptId" in record))


def quiet(path: Path) -> Path:
    """Let a transcript look as if nobody had written to it for a while."""
    past = FixedClock().now // 1000 - 3600
    os.utime(path, (past, past))
    return path


def shown(result: ExciseResult) -> str:
    pieces: list[bytes] = []
    out = Out(pieces.append)
    render(result, out)
    out.flush()
    return b"".join(pieces).decode()


def test_a_preview_says_what_would_go_and_writes_nothing(home: RecordHome) -> None:
    source = three(big=120_000)
    path = quiet(home.save(source))
    before = path.read_bytes()
    _, middle, last = prompts(source)
    result = excise(home.app, ExciseRequest(source.id, (middle,)))
    assert path.read_bytes() == before
    assert (result.applied, result.dropped, result.relinked) == (False, 4, 1)
    assert result.before - result.after > 100_000
    assert [line.records for line in result.threads] == [4]
    assert f"do it: {result.next}" in shown(result)
    assert result.next == f"fabula record excise {source.id} {middle} --apply"
    assert excise(home.app, ExciseRequest(source.id, (last, middle))).dropped == 8


def test_what_goes_is_gone_from_the_file_and_still_in_the_record(home: RecordHome) -> None:
    source = three()
    path = quiet(home.save(source))
    _, middle, last = prompts(source)
    result = excise(home.app, ExciseRequest(str(path), (middle,), apply=True))
    data = path.read_bytes()
    assert len(data) == result.after
    assert b"chain fail" not in data
    assert b"chain output" not in data
    first = [record for record in source.records if record.get("promptId") == prompts(source)[0]]
    following = next(json.loads(line) for line in data.splitlines() if last in line.decode())
    assert following["parentUuid"] == source.records[3]["uuid"]
    assert first[0]["uuid"] == source.records[0]["uuid"]
    assert "The chain was off by one." in thread(home.app, ThreadRequest(middle)).text
    assert home.raw(source.records[4]["uuid"]) in source.data()
    assert len(session(home.app, SessionRequest(source.id)).threads) == 3
    assert "fabula record undo" in shown(result)
    assert (result.old, result.new) == (0, 1)


def test_lines_that_need_no_change_stay_byte_for_byte(home: RecordHome) -> None:
    source = three()
    path = home.save(source)
    lines = source.data().splitlines()
    lines[1] = lines[1].replace(b'"type":', b'"type" :  ')
    path.write_bytes(b"\n".join([*lines, b"not json \xff", b""]))
    quiet(path)
    excise(home.app, ExciseRequest(source.id, (prompts(source)[1],), apply=True))
    after = path.read_bytes().splitlines()
    assert after[:4] == lines[:4]
    assert after[-1] == b"not json \xff"


def test_an_excised_session_can_go_on_and_be_excised_again(home: RecordHome) -> None:
    source = three()
    path = quiet(home.save(source))
    first, middle, _ = prompts(source)
    excise(home.app, ExciseRequest(source.id, (middle,), apply=True))
    source.prompt("And now?")
    with path.open("ab") as file:
        file.write(json.dumps(source.records[-1]).encode() + b"\n")
    quiet(path)
    result = excise(home.app, ExciseRequest(source.id, (first,), apply=True))
    assert result.new is not None
    assert result.new > 1 or result.new != result.old
    values = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert [value["parentUuid"] for value in values] == [None, *(value["uuid"] for value in values[:-1])]
    assert "And now?" in path.read_text()


@pytest.mark.parametrize(
    ("threads", "apply", "code"),
    [((), True, "ERR_USAGE"), (("all",), False, "ERR_USAGE"), (("nothing-like-it",), False, "ERR_NOT_FOUND")],
)
def test_what_cannot_be_taken_out_is_refused(
    home: RecordHome, threads: tuple[str, ...], apply: bool, code: str
) -> None:
    source = three()
    path = quiet(home.save(source))
    named = tuple(prompts(source)) if threads == ("all",) else threads
    with pytest.raises(FabulaError) as error:
        excise(home.app, ExciseRequest(source.id, named, apply=apply))
    assert error.value.code == code
    assert path.read_bytes() == source.data()


def test_a_thread_of_another_session_is_refused(home: RecordHome) -> None:
    source, other = three(), ClaudeSession("other")
    other.prompt("Elsewhere?")
    home.save(other)
    quiet(home.save(source))
    with pytest.raises(FabulaError, match="no record of thread"):
        excise(home.app, ExciseRequest(source.id, (other.prompt_id,)))


def test_sessions_of_other_agents_are_refused(home: RecordHome) -> None:
    rollout = CodexRollout("codex")
    rollout.prompt("Hello?")
    rollout.save(home.folder / ".codex")
    with pytest.raises(FabulaError) as error:
        excise(home.app, ExciseRequest(rollout.id))
    assert error.value.code == "ERR_HOST"


def test_a_session_in_use_is_refused(home: RecordHome) -> None:
    source = three()
    path = home.save(source)
    home.clock.now = path.stat().st_mtime_ns // 1_000_000 + 1000  # type: ignore[attr-defined]
    with pytest.raises(FabulaError) as error:
        excise(home.app, ExciseRequest(source.id, (prompts(source)[1],), apply=True))
    assert error.value.code == "ERR_LIVE"
    assert path.read_bytes() == source.data()


def facts(name: str, **more: object) -> ThreadFacts:
    usual = {"bytes": 5_000, "characters": 2_000, "records": 10, "sidechain_records": 0, "all_records": 10}
    return ThreadFacts(name, ord(name), **{**usual, "terms": frozenset(), **more})  # type: ignore[arg-type]


def test_threads_suggest_themselves_by_noise_subagents_and_later_threads_on_the_same() -> None:
    about = frozenset({"pivot", "zigzag", "a", "b"})
    found = suggest([
        facts("p", terms=about),
        facts("q", bytes=200_000, characters=100, sidechain_records=6),
        facts("r", terms=frozenset({"pivot", "zigzag", "c"})),
    ])  # fmt: skip
    assert [(one.thread, one.reasons) for one in found] == [("q", (NOISE, SUBAGENTS)), ("p", (SUPERSEDED,))]


def test_without_a_thread_it_suggests_some(home: RecordHome) -> None:
    source = three(big=120_000)
    home.save(source)
    result = excise(home.app, ExciseRequest(source.id))
    assert [(line.opening, line.reasons) for line in result.suggestions] == [
        ("Why does the chain fail?", (NOISE,)),
    ]
    assert "mostly output of tools" in shown(result)


def test_a_session_in_use_is_rewritten_only_with_a_persons_consent(
    home: RecordHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = three()
    path = home.save(source)
    home.clock.now = path.stat().st_mtime_ns // 1_000_000 + 1000  # type: ignore[attr-defined]
    asked: list[str] = []
    monkeypatch.setattr("fabula.app.consent.TERMINAL", str(home.folder / "no-terminal"))
    request = ExciseRequest(source.id, (prompts(source)[1],), apply=True, live=True)
    with pytest.raises(FabulaError) as error:
        excise(home.app, request)
    assert error.value.code == "ERR_CONSENT"
    assert error.value.suggestions[0].endswith("--apply --live")
    assert path.read_bytes() == source.data()
    monkeypatch.setattr("fabula.app.consent.require_consent", lambda *words: asked.append(str(words)))
    assert excise(home.app, request).applied
    assert len(asked) == 1
