"""Sessions of every agent can be forgotten: databases, documents and compressed logs as well as lines."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fabula.app.record import forget as verb
from fabula.app.record.forget import ForgetRequest, forget
from fabula.app.wiring import App
from fabula.kernel.ids import unpack_id
from fabula.record.vault.vault import Vault
from fabula.testing.cursor_store import CursorStore
from fabula.testing.prober import everything, found_in
from fabula.testing.record_home import FixedClock

if TYPE_CHECKING:
    from fabula.record.loader import Loader

SAMPLES = Path(__file__).resolve().parents[2] / "data" / "samples" / "home"
HOSTS = ("claude", "codex", "copilot", "gemini", "goose", "opencode")


def app_of(user: Path) -> App:
    return App(environment={"FABULA_HOME": str(user / "fab"), "HOME": str(user)}, cwd=user, user_home=user,
               clock=FixedClock())  # fmt: skip


def raws_by_session(app: App) -> dict[int, list[bytes]]:
    loader: Loader = app.loader()
    found: dict[int, list[bytes]] = {}
    for row in loader.rows("1", ()):
        found.setdefault(row.session_id, []).append(loader.raw(row)[0])
    return found


def runs(data: bytes) -> set[bytes]:
    words = data.lower().split()
    return {b" ".join(words[at : at + 5]) for at in range(len(words) - 4)}


@pytest.mark.parametrize("whole", [True, False])
def test_a_text_is_found_where_a_database_holds_it_in_hexadecimal(
    whole: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chat = CursorStore(tmp_path / ".cursor")
    chat.user("Is Ulmbraketh there?", requestId="r1")
    running = {"role": "assistant", "content": [chat.call("t1", "Shell", command="ls Ulmbraketh")]}
    chat.checkpoint(running)
    chat.message("assistant", running["content"])
    chat.result("t1", "Shell", "fine")
    chat.checkpoint()
    app = app_of(tmp_path)
    app.record.scan()
    assert [place for place in found_in(app.home.root, ["ulmbraketh"]) if "hexadecimal" in place]
    monkeypatch.setattr(verb, "require_consent", lambda *_: None)
    request = ForgetRequest((chat.id,), apply=True) if whole else ForgetRequest(pattern="ulmbraketh", apply=True)
    forget(app, request)
    app.record.close()
    app = app_of(tmp_path)
    app.record.scan(rebuild=True)
    assert found_in(app.home.root, ["ulmbraketh"]) == []
    chat.close()


@pytest.mark.parametrize("host", HOSTS)
def test_a_session_of_any_agent_is_forgotten_whole(host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user = tmp_path / "user"
    shutil.copytree(SAMPLES, user)
    app = app_of(user)
    app.record.scan()
    largest = "select id, uid from sessions where host=? and kind='main' and records>0 order by records desc limit 1"
    row, uid = app.reader().execute(largest, (host,)).fetchall()[0]
    family = {row, *(child for (child,) in app.reader().execute("select id from sessions where parent_id=?", (row,)))}
    raws = raws_by_session(app)
    others = set().union(*(runs(raw) for session, held in raws.items() if session not in family for raw in held))
    needles = set().union(*(runs(raw) for raw in raws[row])) - others
    assert len(needles) > 10
    monkeypatch.setattr(verb, "require_consent", lambda *_: None)
    result = forget(app, ForgetRequest((unpack_id(uid),), apply=True))
    assert unpack_id(uid) in result.sessions
    app.record.close()
    app = app_of(user)
    assert app.record.scan().problems == []
    app.record.seal()
    app.record.scan(rebuild=True)
    left = [(place, needle) for place, data in everything(app.home.root) for needle in needles & runs(data)]
    assert left == []
    after = raws_by_session(app)
    kept = sorted(raw for session, held in raws.items() if session not in family for raw in held)
    if host != "claude":  # its samples hold a fork of the session
        assert sorted(raw for held in after.values() for raw in held) == kept
    with Vault.open(app.home.vault, app.clock, read_only=True) as vault:
        assert list(vault.verify()) == []
        generations = vault.journal.rows("select count(*) from generations")[0][0]
    app.record.scan(rebuild=True)
    app.record.seal()
    with Vault.open(app.home.vault, app.clock, read_only=True) as vault:
        assert vault.journal.rows("select count(*) from generations")[0][0] == generations
