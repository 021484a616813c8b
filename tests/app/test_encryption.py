"""Encryption at rest: what a home shows, and that everything works as it did."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

pytest.importorskip("nacl")

from fabula.app.record.forget import ForgetRequest, forget
from fabula.app.record.search import SearchRequest, search
from fabula.app.record.title import TitleRequest, title
from fabula.app.record.verify import VerifyRequest, verify
from fabula.app.vault import decrypt as decrypting
from fabula.app.vault import encrypt as encrypting
from fabula.app.vault.copy import CopyRequest, copy
from fabula.app.vault.gc import GcRequest, gc
from fabula.app.wiring import App
from fabula.kernel.errors import FabulaError
from fabula.record.vault.vault import Vault
from fabula.storage import keyring
from fabula.testing.prober import everything, runs_of
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession

CANARY = "zanzibarine quokka lanterns"
TEXT = f"Please look after the {CANARY} in the pantry before the tide comes in again"
TITLE = "Lantern keeping for quokkas"


@pytest.fixture(autouse=True)
def _consent(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("encrypt", "decrypt", "gc"):
        monkeypatch.setattr(f"fabula.app.vault.{module}.require_consent", lambda *_: None)
    monkeypatch.setattr("fabula.app.record.forget.require_consent", lambda *_: None)
    keyring.forget_keys()


@pytest.fixture
def home(tmp_path: Path) -> RecordHome:
    """A home with a session, scanned, not encrypted."""
    home = RecordHome(tmp_path / "user")
    home.save(session("kept"))
    home.scan()
    return home


def grain(number: int) -> str:
    return random.Random(number).randbytes(5000).hex()  # so much that packs are filled


def session(name: str, more: str = "") -> ClaudeSession:
    session = ClaudeSession(name)
    session.prompt(TEXT)
    session.reply(f"The lanterns are lit. {more}")
    for number in range(30):
        session.tool(
            "Bash", {"command": f"ls pantry/{number}"}, f"jar {number} of quokka feed {CANARY} {grain(number)}"
        )
    return session


def key_file(home: RecordHome) -> Path:
    return home.folder / "keys" / "key"


def encrypt(home: RecordHome) -> App:
    app = home.open()
    result = encrypting.encrypt(app, encrypting.EncryptRequest(apply=True, key_file=key_file(home)))
    assert result.applied
    assert result.problems == ()
    app.record.close()
    home.app = home.open()
    return home.app


def decrypt(home: RecordHome) -> App:
    result = decrypting.decrypt(home.app, decrypting.DecryptRequest(apply=True))
    assert (result.applied, result.problems) == (True, ())
    home.app.record.close()
    home.app = home.open()
    return home.app


def found(app: App, words: str = "quokka lanterns") -> list[str]:
    return [hit.session for hit in search(app, SearchRequest(query=words, all=True)).hits]


def shown_in(folder: Path, *needles: str) -> list[str]:
    """Return where a file below a folder shows a text, in any form that is no cipher."""
    wanted = [needle.lower().encode() for needle in needles]
    return [f"{n!r} in {place}" for place, data in everything(folder, raw=True) for n in wanted if n in data.lower()]


def holds(app: App, text: str) -> bool:
    """Say whether any file in the vault, restored, holds a text."""
    with Vault.open(app.home.vault, app.clock, read_only=True) as vault:
        return any(text.encode() in b"".join(vault.stream(g)) for g in vault.generation_ids())


def secrets(home: RecordHome) -> list[str]:
    paths = [str(path) for path in home.claude.rglob("*.jsonl")]
    return [CANARY, TITLE, *runs_of(TEXT), *runs_of(TITLE, 3), *paths, *(Path(path).stem for path in paths)]


def raw(home: RecordHome) -> dict[str, bytes]:
    root = home.app.home.root
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_no_file_of_an_encrypted_home_shows_anything(home: RecordHome) -> None:
    app = home.app
    uid = found(app)[0]
    title(app, TitleRequest(uid, TITLE))
    assert shown_in(app.home.root, CANARY, TITLE)
    app = encrypt(home)
    home.save(session("later", more=CANARY))
    home.scan()
    assert len(found(app)) >= 1
    title(app, TitleRequest(uid, TITLE))
    assert not shown_in(app.home.root, *secrets(home))
    app.record.close()
    assert not shown_in(app.home.root, *secrets(home))
    assert {name for name in raw(home) if name.endswith((".db", ".pack"))}
    for name, data in raw(home).items():
        assert not data.startswith(b"SQLite format"), name


def test_everything_is_answered_as_before(home: RecordHome) -> None:
    before = found(home.app)
    assert before
    app = encrypt(home)
    assert found(app) == before
    assert verify(app, VerifyRequest()).damages == []
    home.scan(rebuild=True)
    assert found(home.open()) == before
    assert verify(app, VerifyRequest(repair=True)).damages == []
    home.app = home.open()
    assert found(home.app) == before
    assert not shown_in(app.home.root, *secrets(home))
    app = decrypt(home)
    assert found(app) == before
    assert verify(app, VerifyRequest()).damages == []
    assert shown_in(app.home.root, CANARY)
    assert not (app.home.vault / keyring.KEY_FILE).exists()


def test_a_lost_journal_is_given_back_sealed(home: RecordHome) -> None:
    app = encrypt(home)
    app.record.close()
    for suffix in ("", "-wal", "-shm"):
        (app.home.vault / f"journal.db{suffix}").unlink(missing_ok=True)
    app = home.open()
    verify(app, VerifyRequest(repair=True))
    assert verify(app, VerifyRequest()).damages == []
    assert keyring.is_sealed(app.home.vault / "journal.db")
    assert not shown_in(app.home.root, *secrets(home))


def test_a_copy_of_an_encrypted_vault_is_encrypted_and_usable_with_the_same_key(home: RecordHome) -> None:
    app = encrypt(home)
    target = home.folder / "copy"
    copy(app, CopyRequest(str(target)))
    assert not shown_in(target, *secrets(home))
    keyring.forget_keys()
    environment = {"FABULA_HOME": str(target), "HOME": str(home.folder)}
    other = App(environment=environment, cwd=home.folder, user_home=home.folder, clock=home.clock)
    assert verify(other, VerifyRequest()).damages == []
    home.save(session("later"))
    home.scan()
    again = copy(app, CopyRequest(str(target))).copied
    assert not again.first
    decrypt(home)
    copy(home.app, CopyRequest(str(target)))
    assert not (target / "vault" / keyring.KEY_FILE).exists()
    assert verify(other, VerifyRequest()).damages == []


def test_what_is_forgotten_goes_out_of_an_encrypted_record(home: RecordHome) -> None:
    app = encrypt(home)
    uid = found(app)[0]
    next(iter(home.claude.rglob("*.jsonl"))).unlink()
    home.scan()
    assert forget(home.open(), ForgetRequest(targets=(uid,), apply=True)).applied
    app = home.app = home.open()
    home.scan()
    assert found(home.open()) == []
    assert gc(home.open(), GcRequest(apply=True)).problems == ()
    app.record.close()
    decrypt(home)
    assert not shown_in(home.app.home.root, CANARY)


@pytest.mark.parametrize("key", [None, "0" * 64, "no key at all"])
def test_a_missing_or_wrong_key_is_said_and_changes_nothing(home: RecordHome, key: str | None) -> None:
    app = encrypt(home)
    app.record.close()
    file = key_file(home)
    right = file.read_text()
    file.unlink() if key is None else file.write_text(key)
    keyring.forget_keys()
    before = raw(home)
    scans = [lambda a: a.record.scan(), lambda a: a.record.scan(rebuild=True)]
    for act in (found, *scans, lambda a: verify(a, VerifyRequest(repair=True))):
        with pytest.raises(FabulaError) as refused:
            act(home.open())
        assert refused.value.code == "ERR_KEY"
        assert refused.value.suggestions
    assert {name: data for name, data in raw(home).items() if "lock" not in name} == {
        name: data for name, data in before.items() if "lock" not in name
    }
    file.write_text(right)
    assert found(home.open())


def test_a_flipped_bit_is_found_wherever_it_is(home: RecordHome) -> None:
    app = encrypt(home)
    app.record.close()
    pack = next(path for path in sorted((app.home.vault / "packs").iterdir()) if path.name.startswith("records"))
    for path in (pack, app.home.vault / "journal.db"):
        whole = path.read_bytes()
        damaged = bytearray(whole)
        damaged[len(damaged) // 3] ^= 4
        path.write_bytes(damaged)
        try:
            assert verify(home.open(), VerifyRequest()).damages
        except FabulaError as error:
            assert error.code in {"ERR_DATABASE", "ERR_VAULT_DAMAGED"}
        path.write_bytes(whole)
    assert verify(home.open(), VerifyRequest()).damages == []


def test_a_home_without_a_record_yet_is_encrypted_from_its_first_scan(tmp_path: Path) -> None:
    home = RecordHome(tmp_path / "user")
    app = encrypt(home)
    home.save(session("first"))
    home.scan()
    assert found(app)
    assert not shown_in(app.home.root, *secrets(home))


def test_the_key_lies_outside_of_what_it_protects(home: RecordHome) -> None:
    inside = home.app.home.root / "key"
    with pytest.raises(FabulaError) as refused:
        encrypting.encrypt(home.app, encrypting.EncryptRequest(apply=True, key_file=inside))
    assert refused.value.code == "ERR_PATH"
    with pytest.raises(FabulaError) as refused:
        encrypting.encrypt(home.app, encrypting.EncryptRequest(apply=True))
    assert refused.value.code == "ERR_USAGE"
    assert not (home.app.home.vault / keyring.KEY_FILE).exists()


def test_a_program_gives_the_key_or_the_passphrase(home: RecordHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabula.app.vault.encrypt.ask_secret", lambda *_: "a long passphrase")
    monkeypatch.setattr("fabula.record.vault.keys.MEMORY", 1 << 20)
    result = encrypting.encrypt(home.app, encrypting.EncryptRequest(apply=True, passphrase=True))
    assert "passphrase" in result.kept
    keyring.forget_keys()
    with pytest.raises(FabulaError) as refused:
        found(home.open())
    assert refused.value.code == "ERR_KEY"
    for gives, works in (("echo a long passphrase", True), ("echo another", False), ("false", False)):
        keyring.forget_keys()
        home.app.home.config.write_text(f"[record]\nkey_command = ['sh', '-c', '{gives}']\n")
        if works:
            assert found(home.open())
            continue
        with pytest.raises(FabulaError) as refused:
            found(home.open())
        assert refused.value.code == "ERR_KEY"


def test_without_the_library_an_encrypted_record_says_what_to_install(
    home: RecordHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    encrypt(home).record.close()
    keyring.forget_keys()
    import sys

    monkeypatch.setitem(sys.modules, "nacl", None)
    monkeypatch.setitem(sys.modules, "nacl.bindings", None)
    with pytest.raises(FabulaError) as refused:
        found(home.open())
    assert refused.value.code == "ERR_EXTRA_MISSING"
    assert "fabula[encryption]" in refused.value.suggestions[0]


def test_files_of_an_encrypted_home_are_private(home: RecordHome) -> None:
    app = encrypt(home)
    found(app)
    modes = {path: path.stat().st_mode & 0o777 for path in app.home.root.rglob("*") if path.is_file()}
    assert all(mode & 0o077 == 0 for mode in modes.values()), modes
    assert os.stat(key_file(home)).st_mode & 0o077 == 0
