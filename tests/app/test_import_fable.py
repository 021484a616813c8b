"""A fable installation taken over: every row accounted for, nothing of it changed, nothing here replaced."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from fabula.app.imports import FableRequest, FableResult, fable
from fabula.app.record import forget as forgetting
from fabula.app.record.forget import ForgetRequest, forget
from fabula.app.record.title import TitleRequest, title
from fabula.kernel.errors import FabulaError
from fabula.kernel.hashes import digest
from fabula.kernel.ids import pack_id
from fabula.record.containers.rows import read_line
from fabula.record.vault.keepsakes import Keepsakes
from fabula.testing.fable_database import FableInstallation
from fabula.testing.outcome import Outcome
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession


@pytest.fixture
def home(tmp_path: Path) -> RecordHome:
    return RecordHome(tmp_path / "home")


def told(seed: str = "harbour") -> ClaudeSession:
    session = ClaudeSession(seed)
    session.prompt("Why a token bucket?")
    session.tool("Read", {"file_path": "limiter.py"}, "class Bucket: quokka")
    session.reply("Because bursts are honest.")
    return session


def threads(session: ClaudeSession) -> list[str]:
    return list(dict.fromkeys(record["promptId"] for record in session.records if record.get("promptId")))


def installation(home: RecordHome) -> tuple[FableInstallation, ClaudeSession]:
    """Everything that fable keeps, over a session whose live transcript is gone."""
    made, session = FableInstallation(home.folder / ".fable"), told()
    other = told("tide")
    thread = threads(session)[0]
    made.session(session, title="The limiter", pinned=True, tags="limits,harbour")
    made.session(other)
    made.generation(session, 0)
    made.card(thread, "Chose a token bucket", decisions=["bucket over window because of bursts"], summary="A limiter.")
    made.card("lost-thread", "Of a thread that is gone", lessons="not a list")
    made.insert("thread_tags", prompt_id=thread, family="topic", value="rate_limits", score=0.9, source="card")
    made.insert("thread_tags", prompt_id="uncarded", family="topic", value="tides", score=0.5, source="card")
    made.insert("facts", fact="The harbour master prefers UTC.", project="harbor", created_at="2026-03-02", active=1)
    made.insert("facts", fact="Old and forgotten.", active=0)
    made.insert("rules", canonical_text="write tests", status="active", occurrence_count=4)
    reader = session.records[-1]["uuid"]
    made.insert("citations", from_uuid=reader, ref=thread)
    made.insert("citations", from_uuid=reader, ref="a-thread-of-another-machine")
    made.insert("embeddings", prompt_id=thread, kind="card", vec=b"\0\1", dim=1, backend="x")
    made.insert("ops", ts="2026-03-02", kind="search", detail="{}")
    return made, session


def imported(home: RecordHome, *, apply: bool = True) -> FableResult:
    return fable(home.app, FableRequest(apply=apply))


def count(result: FableResult, name: str) -> tuple[int, int, int, int]:
    """Return (taken, kept, there, left out) of a table."""
    found = next(one for one in result.tables if one.name == name)
    return found.taken, found.kept, found.there, sum(found.skipped.values())


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return every file's bytes and time: what must not change."""
    return {
        str(path): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith("-shm")
    }


def keepsakes(home: RecordHome) -> Keepsakes:
    return Keepsakes.open(home.app.home.vault, home.clock)


def test_everything_a_fable_installation_keeps_finds_its_place(home: RecordHome) -> None:
    made, session = installation(home)
    thread = threads(session)[0]
    result = imported(home)
    assert result.applied
    kept = keepsakes(home)
    assert kept.titles("session") == {session.id: "The limiter"}
    assert [(pin.kind, pin.ref) for pin in kept.pins()] == [("session", session.id)]
    card = json.loads(kept.cards()[thread])
    assert (card["title"], card["decisions"]) == ("Chose a token bucket", ["bucket over window because of bursts"])
    assert card["tags"] == [{"family": "topic", "value": "rate_limits", "score": 0.9, "source": "card"}]
    assert json.loads(kept.cards()["lost-thread"])["lessons"] == "not a list"
    first = next(record["uuid"] for record in session.records if record.get("promptId") == thread)
    (citation,) = kept.citations(first)
    assert citation.reader == f"record {session.records[-1]['uuid']}"
    assert citation.first_at == 1_772_442_000_500
    kept.close()
    assert home.found("quokka") == 1
    made.close()


def test_rows_without_a_place_are_kept_so_that_each_comes_back_as_it_was(home: RecordHome) -> None:
    made, _ = installation(home)
    imported(home)
    kept = keepsakes(home)
    lines = [read_line(card.encode()) for ref, card in kept.cards().items() if ref.startswith("fable:")]
    kept.close()
    assert sorted(table for table, _ in lines) == ["citations", "facts", "facts", "rules", "sessions", "thread_tags"]
    columns = [row[1] for row in made.connection.execute("pragma table_info(facts)")]
    facts = [dict(zip(columns, row, strict=True)) for row in made.connection.execute("select * from facts")]
    assert sorted((row for table, row in lines if table == "facts"), key=lambda row: row["id"]) == facts
    made.close()


def test_the_account_names_every_row(home: RecordHome) -> None:
    made, _ = installation(home)
    result = imported(home)
    assert {one.name: count(result, one.name) for one in result.tables if one.rows} == {
        "sessions: title": (1, 0, 0, 1),
        "sessions: pinned": (1, 0, 0, 1),
        "sessions: tags": (0, 1, 0, 1),
        "cards": (2, 0, 0, 0),
        "thread_tags": (1, 1, 0, 0),
        "citations": (1, 1, 0, 0),
        "facts": (0, 2, 0, 0),
        "rules": (0, 1, 0, 0),
        "records": (0, 0, 0, made.connection.execute("select count(*) from records").fetchall()[0][0]),
        "threads": (0, 0, 0, 2),
        "embeddings": (0, 0, 0, 1),
        "ops": (0, 0, 0, 1),
    }
    for one in result.tables:
        assert one.rows == one.taken + one.kept + one.there + sum(one.skipped.values())
    made.close()


def test_a_preview_changes_nothing_and_says_what_will_be_done(home: RecordHome) -> None:
    made, session = installation(home)
    preview = imported(home, apply=False)
    kept = keepsakes(home)
    assert (kept.titles("session"), kept.pins(), kept.cards()) == ({}, [], {})
    kept.close()
    assert home.app.vault() is None or home.app.vault().sources() == []  # type: ignore[union-attr]
    done = imported(home)
    assert [(one.name, count(preview, one.name)) for one in preview.tables] == [
        (one.name, count(done, one.name)) for one in done.tables
    ]
    assert (preview.generations.new, done.generations.new) == (1, 1)
    assert session.id
    made.close()


def test_a_repetition_adds_nothing(home: RecordHome) -> None:
    made, _ = installation(home)
    imported(home)
    before = keepsakes(home)
    cards, pins = before.cards(), before.pins()
    before.close()
    home.clock.now += 1_000_000
    home.app = home.open()
    home.scan()
    again = imported(home)
    for one in again.tables:
        assert (one.taken, one.kept) == (0, 0), one
    assert (again.generations.new, again.generations.there) == (0, 1)
    after = keepsakes(home)
    assert (after.cards(), after.pins()) == (cards, pins)
    after.close()
    assert home.found("quokka") == 1
    made.close()


def test_a_title_given_here_stays(home: RecordHome) -> None:
    made, session = installation(home)
    home.save(session)
    home.scan()
    title(home.app, TitleRequest(session.id, "Mine"))
    result = imported(home)
    assert count(result, "sessions: title") == (0, 0, 0, 2)
    kept = keepsakes(home)
    assert kept.titles("session") == {session.id: "Mine"}
    kept.close()
    made.close()


def test_a_card_that_is_here_stays_and_the_other_is_not_lost(home: RecordHome) -> None:
    made, session = installation(home)
    home.save(session)
    home.scan()
    thread = threads(session)[0]
    kept = keepsakes(home)
    kept.keep_card(thread, '{"title":"Mine"}')
    kept.close()
    result = imported(home)
    assert count(result, "cards") == (1, 1, 0, 0)
    kept = keepsakes(home)
    cards = kept.cards()
    kept.close()
    assert cards[thread] == '{"title":"Mine"}'
    assert any("Chose a token bucket" in card for ref, card in cards.items() if ref.startswith("fable:cards:"))
    made.close()


def test_generations_are_sealed_as_what_they_are(home: RecordHome) -> None:
    made, session = installation(home)
    raw = made.generation(session, 0).read_bytes()
    pruned = raw.replace(b"class Bucket: quokka", b"[pruned]")
    made.generation(session, 3, data=pruned)
    (made.vault / "harbor" / "notes.txt").write_text("no generation")
    result = imported(home)
    assert (result.generations.files, result.generations.new, result.generations.others) == (2, 2, 1)
    vault = home.open().vault()
    assert vault is not None
    found = {
        Path(entry.path).name: [(g.number, g.provenance, g.immutable) for g in entry.generations]
        for entry in vault.sources()
    }
    assert found["v0-raw.jsonl"] == [(0, "original", True)]
    assert found["v3-pruned.jsonl"] == [(3, "slimmed", True)]
    by_name = {Path(entry.path).name: entry.generations[0] for entry in vault.sources()}
    assert b"".join(vault.stream(by_name["v3-pruned.jsonl"].id)) == pruned
    vault.close()
    assert home.found("quokka") == 1
    made.close()


def test_what_was_taken_over_outlives_the_installation(home: RecordHome) -> None:
    made, session = installation(home)
    imported(home)
    made.close()
    shutil.rmtree(made.folder)
    home.app = home.open()
    home.scan()
    home.scan(rebuild=True)
    assert home.found("quokka") == 1
    assert home.rows("select count(*) from sessions where uid=?", pack_id(session.id)) == [(1,)]
    first = next(record for record in session.records if record.get("promptId"))
    kept = keepsakes(home)
    (citation,) = kept.citations(first["uuid"])
    kept.close()
    assert digest(home.raw(first["uuid"])) == citation.digest


def test_what_was_forgotten_here_is_not_taken_over_again(home: RecordHome, monkeypatch: pytest.MonkeyPatch) -> None:
    made, session = installation(home)
    imported(home)
    monkeypatch.setattr(forgetting, "require_consent", lambda *_: None)
    for request in (ForgetRequest((session.id,), apply=True), ForgetRequest(pattern="harbour master", apply=True)):
        home.app = home.open()
        forget(home.app, request)
    home.app = home.open()
    again = imported(home)
    assert count(again, "sessions: title") == (0, 0, 0, 2)
    assert count(again, "sessions: pinned") == (0, 0, 0, 2)
    assert count(again, "facts") == (0, 0, 1, 1)
    assert count(again, "cards")[3] == 1
    kept = keepsakes(home)
    held = [*kept.cards().values(), *kept.titles("session").values()]
    kept.close()
    assert not [text for text in held if "harbour master" in text or "token bucket" in text]
    assert home.found("quokka") == 0
    made.close()


@pytest.mark.parametrize("running", [True, False])
def test_the_source_is_left_as_it_was(home: RecordHome, *, running: bool) -> None:
    made, _ = installation(home)
    if not running:
        made.close()
    before, names = state(made.folder), sorted(os.listdir(made.folder))
    imported(home, apply=False)
    imported(home)
    assert state(made.folder) == before
    assert sorted(os.listdir(made.folder)) == names
    if running:
        made.close()


def test_the_vault_lies_where_its_settings_say(home: RecordHome, tmp_path: Path) -> None:
    made, session = installation(home)
    elsewhere = tmp_path / "archive"
    (made.folder / "config.json").write_text(json.dumps({"vault": str(elsewhere), "backup_roots": [str(made.vault)]}))
    made.vault, old = elsewhere, made.vault
    made.generation(session, 1)
    result = imported(home, apply=False)
    assert result.generations.folders == (str(elsewhere), str(old))
    assert result.generations.files == 2
    named = fable(home.app, FableRequest(str(made.database), (old,)))
    assert named.generations.folders == (str(old),)
    made.close()


def test_a_table_that_is_not_known_is_kept_row_by_row(home: RecordHome) -> None:
    made, _ = installation(home)
    made.connection.execute("create table novelty(a, b)")
    made.connection.execute("insert into novelty values(1.5, x'00ff'), (null, 'text')")
    assert count(imported(home), "novelty") == (0, 2, 0, 0)
    kept = keepsakes(home)
    rows = [read_line(card.encode())[1] for ref, card in kept.cards().items() if ref.startswith("fable:novelty:")]
    kept.close()
    assert {tuple(row.values()) for row in rows} == {(1.5, b"\0\xff"), (None, "text")}
    made.close()


def test_an_older_database_without_newer_columns_and_tables_is_read(home: RecordHome) -> None:
    folder = home.folder / ".fable"
    folder.mkdir()
    connection = apsw.Connection(str(folder / "fable.db"))
    connection.execute(
        "create table sessions(session_id text primary key, title text); create table records(uuid text);"
        "create table threads(prompt_id text); insert into sessions values('s', 'A title')"
    )
    connection.close()
    assert count(imported(home), "sessions: title") == (1, 0, 0, 0)


def foreign(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("create table notes(text)")
    connection.close()


def damaged(path: Path) -> None:
    made = FableInstallation(path.parent)
    for number in range(400):
        made.insert("facts", fact=f"fact {number} " * 20)
    made.connection.execute("pragma wal_checkpoint(truncate)")
    made.close()
    data = bytearray(path.read_bytes())
    for at in range(8192, len(data) - 4096, 4096):
        data[at : at + 64] = b"\xa5" * 64
    path.write_bytes(data)


@pytest.mark.parametrize("spoil", [foreign, damaged, lambda path: path.write_bytes(b"no database at all" * 300)])
def test_a_database_that_is_damaged_or_not_fables_is_refused_in_words(home: RecordHome, spoil: object) -> None:
    path = home.folder / ".fable" / "fable.db"
    path.parent.mkdir()
    spoil(path)  # type: ignore[operator]
    with pytest.raises(FabulaError) as caught:
        imported(home)
    assert caught.value.code == "ERR_IMPORT"
    assert str(path) in caught.value.message
    assert all(command.startswith("sqlite3 ") for command in caught.value.suggestions)


def test_a_text_index_with_a_tokenizer_of_its_own_is_no_obstacle(home: RecordHome) -> None:
    made, _ = installation(home)
    made.insert("fts", content="words", uuid="u", prompt_id="p", kind="text")
    made.connection.execute("pragma writable_schema=on")
    made.connection.execute(
        "update sqlite_schema set sql=replace(sql, 'content, ', 'content, tokenize=''porridge'', ') where name='fts'"
    )
    made.close()
    assert count(imported(home), "fts") == (0, 0, 0, 1)


def test_where_there_is_nothing_the_error_says_what_to_name(home: RecordHome) -> None:
    with pytest.raises(FabulaError) as caught:
        imported(home)
    assert caught.value.code == "ERR_PATH"
    assert caught.value.suggestions == ("fabula import fable DB|DIR",)


def test_the_command_prints_the_account(fabula: Callable[..., Outcome], home: RecordHome) -> None:
    made, _ = installation(home)
    shown = fabula("import", "fable", str(made.folder)).out
    assert "1 to be taken, 1 to be kept as they are" in shown
    assert "do it: fabula import fable " in shown
    outcome = fabula("import", "fable", str(made.database), "--apply", "--json")
    assert outcome.data["applied"] is True
    assert outcome.data["generations"]["new"] == 1
    made.close()
