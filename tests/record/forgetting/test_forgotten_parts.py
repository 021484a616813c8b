"""Threads, records and patterns: what goes, what stays byte for byte, and what two sessions share."""

from __future__ import annotations

import json
from shlex import split
from typing import TYPE_CHECKING

import pytest
from forgetting_builders import CANARIES, Planted, needles

from fabula.app.record import forget as verb
from fabula.app.record.forget import ForgetRequest, forget
from fabula.app.record.forget_lines import preview_lines
from fabula.app.record.restore import RestoreRequest, restore
from fabula.kernel.errors import FabulaError
from fabula.record.forgetting import wanted
from fabula.record.vault.keepsakes import Keepsakes
from fabula.record.vault.vault import Vault
from fabula.testing.prober import found_in, runs_of
from fabula.testing.transcripts import ClaudeSession, json_line

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "Ulmbraketh swims below the ninth bridge every single night"


@pytest.fixture
def planted(tmp_path: Path) -> Planted:
    """A record with a session that goes and one that stays."""
    return Planted(tmp_path)


def left_of(planted: Planted, path: Path) -> bytes:
    """Return what the vault gives back of a file of which something was forgotten."""
    out = planted.home.folder / f"restored-{len(list(planted.home.folder.glob('restored-*')))}"
    restore(planted.home.app, RestoreRequest(str(path), output=out, without_forgotten=True))
    return out.read_bytes()


def assert_sound(planted: Planted) -> None:
    with Vault.open(planted.root / "vault", planted.home.clock, read_only=True) as vault:
        assert list(vault.verify()) == []


def test_one_record_goes_and_its_neighbours_stay(planted: Planted) -> None:
    records = planted.staying.records
    planted.forget(str(records[1]["uuid"]))
    assert found_in(planted.root, runs_of("The clock is read twice for every request that comes in.")) == []
    assert left_of(planted, planted.kept) == b"".join(map(json_line, [records[0], *records[2:]]))
    rows = planted.home.app.loader().rows("1", ())
    raws = {planted.home.app.loader().raw(row)[0] for row in rows}
    assert {json_line(record)[:-1] for record in [records[0], *records[2:]]} <= raws
    assert_sound(planted)


def test_a_record_that_has_the_id_of_its_thread_goes_alone_if_that_is_meant(planted: Planted) -> None:
    other = ClaudeSession("unnumbered", cwd=planted.doomed.cwd)
    other.prompt(SECRET)
    other.reply("That is what it does.")
    for record in other.records:
        record.pop("promptId", None)
    path = planted.home.save(other)
    planted.home.scan()
    uid = str(other.records[0]["uuid"])
    assert forget(planted.home.app, ForgetRequest((uid,))).records == 2
    planted.forget(uid, record=True)
    assert found_in(planted.root, ["ulmbraketh"]) == []
    assert left_of(planted, path) == json_line(other.records[1])


def test_a_thread_goes_with_the_echoes_of_its_prompt(planted: Planted) -> None:
    session = planted.staying
    session.prompt(SECRET)
    session.reply("Noted.")
    session.other("last-prompt", lastPrompt=SECRET, leafUuid=session.leaf)
    planted.home.save(session)
    line = {"display": SECRET, "project": session.cwd, "timestamp": 1_772_442_900_000, "sessionId": session.id}
    history = planted.home.claude / "history.jsonl"
    history.write_bytes(history.read_bytes() + json.dumps(line).encode() + b"\n")
    planted.home.scan()
    assert found_in(planted.root, ["ulmbraketh"])
    result = planted.forget(str(session.prompt_id))
    assert [one.kind for one in result.targets] == ["thread"]
    planted.reopen()
    planted.home.scan()
    assert found_in(planted.root, ["ulmbraketh", *runs_of(SECRET)]) == []
    assert found_in(planted.root, ["rate limiter slow on Mondays"])
    assert_sound(planted)


@pytest.mark.parametrize(
    ("pattern", "regex"), [("ninth BRIDGE  every", False), (r"Ulmbra\w+", True), ("brücke am Fluß", False)]
)
def test_whatever_holds_a_text_goes(planted: Planted, pattern: str, *, regex: bool) -> None:
    session = planted.staying
    session.prompt(f"First line\n{SECRET}, at the brücke am Fluß")
    session.tool("Read", {"file_path": "/etc/ninth"}, json.dumps({"deep": [SECRET + " brücke am Fluß"]}))
    session.title(SECRET + " brücke am Fluß")
    path = planted.home.save(session)
    path.write_bytes(
        path.read_bytes()
        + f"broken {{ {SECRET} brücke am Fluß\n".encode()
        + b'{"torn": "'
        + (SECRET + " brücke am Fluß").encode()
    )
    planted.home.scan()
    planted.forget(pattern=pattern, regex=regex)
    planted.reopen()
    planted.home.scan()
    assert found_in(planted.root, ["ulmbraketh", "swims below the ninth bridge every"]) == []
    assert found_in(planted.root, ["rate limiter slow on Mondays"])
    assert_sound(planted)


def test_every_state_of_a_file_loses_it(planted: Planted) -> None:
    data = planted.transcript.read_bytes()
    planted.transcript.write_bytes(data.replace(b"lime kiln", b"salt kiln"))
    planted.home.scan()
    planted.transcript.write_bytes(data.replace(b"old lime", b"new lime"))
    planted.home.scan()
    with Vault.open(planted.root / "vault", planted.home.clock, read_only=True) as vault:
        assert max(len(entry.generations) for entry in vault.sources()) == 3
    planted.forget(planted.doomed.id)
    assert found_in(planted.root, [*needles(), "salt kiln", "new lime"]) == []
    assert_sound(planted)


def test_forgetting_an_origin_takes_its_records_from_a_fork_too_and_says_so(planted: Planted) -> None:
    fork = planted.doomed.fork("fork")
    fork.prompt("Something that only the fork asks, later on")
    path = planted.home.save(fork)
    planted.home.scan()
    preview = forget(planted.home.app, ForgetRequest((planted.doomed.id,)))
    assert not preview.applied
    lines = "\n".join(preview_lines(preview))
    assert f"files of other sessions (copies, forks), and forgotten there too:\n  {fork.id}" in lines
    planted.forget(planted.doomed.id)
    assert found_in(planted.root, needles()) == []
    assert json_line(fork.records[-1]) in left_of(planted, path)


def test_forgetting_a_fork_leaves_the_origin_alone_and_says_so(planted: Planted) -> None:
    fork = planted.staying.fork("fork")
    fork.clock.pause(hours=1)
    fork.prompt(SECRET)
    planted.home.save(fork)
    planted.home.scan()
    preview = forget(planted.home.app, ForgetRequest((fork.id,)))
    assert preview.staying == len([record for record in planted.staying.records if "uuid" in record])
    assert "stay there" in "\n".join(preview_lines(preview))
    planted.forget(fork.id)
    assert found_in(planted.root, ["ulmbraketh"]) == []
    assert b"".join(planted.home.app.loader().raw(row)[0] + b"\n" for row in planted.home.app.loader().rows(
        "session_id=(select id from sessions where hex(uid)=?)", (planted.staying.id.replace("-", "").upper(),)
    )) == planted.kept.read_bytes()  # fmt: skip


def test_short_bytes_that_others_hold_too_stay_with_them(planted: Planted) -> None:
    planted.home.write(f"file-history/{planted.doomed.id}/0000000000000001@v1", b"ok\n")
    other = planted.home.write(f"file-history/{planted.staying.id}/0000000000000001@v1", b"ok\n")
    planted.home.scan()
    planted.forget(planted.doomed.id)
    out = planted.home.folder / "out"
    restore(planted.home.app, RestoreRequest(str(other), output=out))
    assert out.read_bytes() == b"ok\n"
    assert_sound(planted)


def test_restoring_says_that_it_was_forgotten_and_how_to_have_the_rest(planted: Planted) -> None:
    planted.forget(str(planted.staying.records[1]["uuid"]))
    with pytest.raises(FabulaError) as caught:
        restore(planted.home.app, RestoreRequest(str(planted.kept)))
    assert caught.value.code == "ERR_FORGOTTEN"
    assert "--without-forgotten" in caught.value.suggestions[0]
    result = restore(planted.home.app, RestoreRequest(str(planted.kept), without_forgotten=True))
    assert [hole.length for hole in result.holes] == [len(json_line(planted.staying.records[1])) - 1]
    assert b"clock is read" not in b"".join(result.pieces())


def test_what_is_said_elsewhere_is_named_and_left(planted: Planted) -> None:
    other = ClaudeSession("other", cwd=planted.doomed.cwd)
    other.clock.pause(hours=5)
    other.prompt(f"Somebody told me: {CANARIES['reply']}. Is that so?")
    planted.home.save(other)
    planted.home.scan()
    preview = forget(planted.home.app, ForgetRequest((planted.doomed.id,)))
    assert [one.session for one in preview.quoting] == [other.id]
    planted.forget(planted.doomed.id)
    assert found_in(planted.root, ["wembrulost"])


def test_strange_lines_go_by_a_pattern_and_stay_otherwise(planted: Planted) -> None:
    strange = [json.dumps(value).encode() for value in ("a text", 7, None, [SECRET, {"deep": [SECRET]}], SECRET, {})]
    data = planted.kept.read_bytes() + b"\n".join(strange) + b"\n"
    planted.kept.write_bytes(data)
    planted.home.scan()
    planted.forget(planted.doomed.id)
    with Vault.open(planted.root / "vault", planted.home.clock, read_only=True) as vault:
        kept = next(entry for entry in vault.sources() if entry.path == str(planted.kept))
        assert b"".join(vault.stream(kept.generations[-1].id)) == data
    planted.forget(pattern=SECRET)
    assert found_in(planted.root, ["ulmbraketh"]) == []
    assert left_of(planted, planted.kept) == b"".join(
        line for line in data.splitlines(keepends=True) if b"Ulm" not in line
    )


def test_cards_and_titles_that_speak_of_it_go_too(planted: Planted) -> None:
    keepsakes = Keepsakes.open(planted.root / "vault", planted.home.clock)
    uid = str(planted.doomed.records[0]["uuid"])
    keepsakes.keep_card("elsewhere", json.dumps({"about": uid, "said": SECRET}))
    keepsakes.keep_card("another", json.dumps({"said": "nothing of it"}))
    keepsakes.entitle("session", planted.staying.id, "Vorplimask was once a title")
    keepsakes.close()
    planted.forget(planted.doomed.id)
    planted.forget(pattern="vorplimask")
    assert found_in(planted.root, ["ulmbraketh", "vorplimask"]) == []
    assert found_in(planted.root, ["nothing of it"])


@pytest.mark.parametrize("pattern", ["", "a", "no such text anywhere"])
def test_a_pattern_that_is_too_wide_or_hits_nothing_is_refused(planted: Planted, pattern: str) -> None:
    with pytest.raises(FabulaError) as caught:
        forget(planted.home.app, ForgetRequest(pattern=pattern))
    assert caught.value.code in {"ERR_USAGE", "ERR_NOT_FOUND"}


def test_what_is_sealed_while_a_person_thinks_about_it_goes_too(planted: Planted) -> None:
    def think(*_: object) -> None:
        planted.home.save(planted.doomed.fork("fork"))
        planted.home.open().record.scan()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verb, "require_consent", think)
        forget(planted.home.app, ForgetRequest((planted.doomed.id,), apply=True))
    assert found_in(planted.root, needles()) == []


def test_a_record_without_an_id_goes_from_its_own_session_also_where_another_holds_the_same_bytes(
    planted: Planted,
) -> None:
    lines = [{"type": "user", "message": {"role": "user", "content": f"{SECRET} ({at})"}, "timestamp":
              "2026-03-02T12:00:00Z"} for at in range(2)]  # fmt: skip
    data = b"".join(map(json_line, lines))
    paths = [planted.home.write(f"projects/{name}/session.jsonl", data) for name in ("-a", "-b")]
    planted.home.scan()
    rows = planted.home.app.loader().rows("kind=0 and flags & 8", ())
    assert len(rows) >= 2
    for row in rows:
        if b"Ulmbraketh" in planted.home.app.loader().raw(row)[0]:
            result = planted.forget(row.uid, record=True)
            assert result.records >= 1
            break
    assert any(left_of(planted, path) != data for path in paths)


def test_an_expression_that_never_ends_is_refused_before_anything_is_changed(
    planted: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wanted, "PATTERN_SECONDS", 0.05)
    with pytest.raises(FabulaError) as caught:
        forget(planted.home.app, ForgetRequest((), pattern=r"(\w+\s?)+#$%", regex=True))
    assert caught.value.code == "ERR_USAGE"
    assert "more than 0.05 seconds" in caught.value.message


@pytest.mark.parametrize(
    "request_",
    [
        ForgetRequest(("-x'y", "seventh"), record=True, sources=True, apply=True),
        ForgetRequest((), pattern='--it\'s "old" lime; rm -rf', regex=True, apply=True),
        ForgetRequest(("abc",), pattern="lime kiln", apply=True),
    ],
)
def test_who_could_not_be_asked_is_told_the_very_same_command(tmp_path: Path, request_: ForgetRequest) -> None:
    from fabula.cli.parse import Surroundings, parse

    call = parse(split(verb.command_of(request_))[1:], Surroundings(tmp_path, 0))
    assert ForgetRequest(**call.values) == request_


def test_what_is_damaged_and_could_not_be_looked_into_is_counted(planted: Planted) -> None:
    """A person who is told that nothing holds a text believes it; a repair takes it in again from its source."""
    session = ClaudeSession("large", cwd="/home/mira/code/harbor")
    session.prompt(f"{SECRET} {'and on and on ' * 30_000}")
    planted.home.save(session)
    planted.home.scan()
    planted.reopen()
    [pack] = (planted.root / "vault" / "packs").glob("records-*.pack")
    data = bytearray(pack.read_bytes())
    data[len(data) // 2] ^= 1
    pack.write_bytes(data)
    with pytest.raises(FabulaError) as caught:
        forget(planted.home.app, ForgetRequest((), pattern=SECRET))
    assert "damaged, and not looked into: 1 record" in caught.value.message
    assert caught.value.suggestions == ("fabula record verify --repair",)
    lines = preview_lines(forget(planted.home.app, ForgetRequest((planted.doomed.id,))))
    assert any("not looked into: 1 record." in line for line in lines)


def test_an_erasure_that_fails_behind_its_commit_says_how_far_it_came(
    planted: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise FabulaError("ERR_DISK", "no space is left")

    monkeypatch.setattr("fabula.record.vault.erasing.sweep", full)
    with pytest.raises(FabulaError) as caught:
        planted.forget(planted.doomed.id)
    assert "cannot be reached any more" in caught.value.message
    assert caught.value.suggestions == ("fabula record scan",)
    monkeypatch.undo()
    planted.reopen()
    planted.home.scan()
    assert found_in(planted.root, needles()) == []
