"""Settings of retention: what ``vault gc`` may remove by them, and that by default it is nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.app.doctor import DoctorRequest, doctor
from fabula.app.record.restore import RestoreRequest, restore
from fabula.app.vault import gc as verb
from fabula.app.vault.gc import GcRequest, gc
from fabula.cli.render.vault_gc import render
from fabula.kernel.errors import FabulaError
from fabula.record.vault.vault import Vault
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession


@pytest.fixture
def home(tmp_path: Path) -> RecordHome:
    """A session that was rewritten twice by the same hands: original, slimmed, original again."""
    home = RecordHome(tmp_path)
    session = ClaudeSession("slim")
    session.prompt("Where do the lanterns hang?")
    session.reply("By the harbor wall.")
    path = home.save(session)
    original = path.read_bytes()
    home.scan()
    for data in (b"".join(line[:-1] + b',"fabulaSlimmed":true}\n' for line in original.splitlines()), original):
        path.unlink()
        path.write_bytes(data)
        home.clock.now += 3_600_000  # type: ignore[attr-defined]
        home.app = home.open()
        home.scan()
    return home


def set_rule(home: RecordHome, rule: str) -> None:
    (home.folder / "fabula" / "config.toml").write_text(f"[record]\n{rule}\n")
    home.app = home.open()


def numbers(home: RecordHome) -> list[int]:
    with Vault.open(home.folder / "fabula" / "vault", home.clock, read_only=True) as vault:
        assert list(vault.verify()) == []
        return [each.number for source in vault.sources() for each in source.generations]


class Written:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def line(self, text: str = "") -> None:
        self.lines.append(text)

    def dim(self, text: str) -> str:
        return text


def test_by_default_nothing_may_go(home: RecordHome) -> None:
    assert gc(home.app, GcRequest(apply=True)).retired == ()
    assert numbers(home) == [0, 1, 2]
    assert "every generation of every file is kept" in keeping(home)


def keeping(home: RecordHome) -> str:
    (check,) = [check for check in doctor(home.app, DoctorRequest()).checks if check.name == "keeping"]
    return check.message


@pytest.mark.parametrize(
    ("rule", "going"),
    [("keep_generations = 1", [0, 1]), ("keep_generations = 2", [0]), ("keep_generations = 3", []),
     ("keep_days = 1", []), ("vault_budget_mb = 1", [])],
)  # fmt: skip
def test_the_settings_say_what_may_go(home: RecordHome, rule: str, going: list[int]) -> None:
    set_rule(home, rule)
    found = gc(home.app, GcRequest())
    assert [each.number for each in found.retired] == going
    written = Written()
    render(found, written)  # type: ignore[arg-type]
    assert sum("may go: generation" in line for line in written.lines) == len(going)
    assert numbers(home) == [0, 1, 2]
    assert "never goes the last full copy" in keeping(home)


def test_what_goes_is_asked_for_and_all_that_is_full_stays(home: RecordHome, monkeypatch: pytest.MonkeyPatch) -> None:
    set_rule(home, "keep_generations = 1")
    with pytest.raises(FabulaError) as caught:
        gc(home.app, GcRequest(apply=True))
    assert caught.value.code == "ERR_CONSENT"
    assert numbers(home) == [0, 1, 2]
    asked: list[str] = []
    monkeypatch.setattr(verb, "require_consent", lambda lines, *_: asked.extend(lines))
    done = gc(home.app, GcRequest(apply=True))
    assert "2 superseded generations are not kept by your settings" in asked[0]
    assert done.problems == ()
    assert numbers(home) == [2]
    assert home.found("lanterns") == 1
    (path,) = (home.claude / "projects").rglob("*.jsonl")
    out = home.folder / "out"
    restore(home.app, RestoreRequest(str(path), output=out))
    assert out.read_bytes() == path.read_bytes()
    assert gc(home.app, GcRequest()).retired == ()


def test_the_state_that_undo_goes_back_to_stays(home: RecordHome) -> None:
    from fabula.record.rewriting.links import Link, note_link

    with Vault.open(home.folder / "fabula" / "vault", home.clock) as vault:
        first, _, newest = vault.sources()[0].generations
        note_link(
            vault.journal,
            Link(newest.id, first.id, first.length, newest.length, "undo", made_at=0, begun_at=newest.begun_at),
        )
    set_rule(home, "keep_generations = 1")
    assert [each.number for each in gc(home.app, GcRequest()).retired] == [1]


def test_a_crash_after_generations_went_leaves_a_sound_vault_and_the_rest_to_the_next_gc(
    home: RecordHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fabula.record.vault import collecting

    set_rule(home, "keep_generations = 1")
    monkeypatch.setattr(verb, "require_consent", lambda *_: None)
    with monkeypatch.context() as patch:
        patch.setattr(collecting, "collect", _killed)
        with pytest.raises(RuntimeError):
            gc(home.app, GcRequest(apply=True))
    home.app = home.open()
    assert numbers(home) == [2]
    home.app.refresh()
    assert home.found("lanterns") == 1
    found = gc(home.app, GcRequest())
    assert (found.retired, found.unnamed > 0) == ((), True)  # the lines that were slimmed
    assert gc(home.app, GcRequest(apply=True)).problems == ()
    assert gc(home.app, GcRequest()).unnamed == 0


def _killed(*_: object) -> None:
    raise RuntimeError
