"""After a session was forgotten nothing of it can be read anywhere in the record, in whatever form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from forgetting_builders import CANARIES, CARD, GIVEN_TITLE, WORDS, Planted, needles

from fabula.app.record.block import BlockRequest, block
from fabula.app.record.finding import prepare_vectors
from fabula.app.record.search import SearchRequest, search
from fabula.app.record.title import TitleRequest, title
from fabula.kernel.errors import FabulaError
from fabula.record.vault.keepsakes import Keepsakes
from fabula.record.vault.vault import Vault
from fabula.testing.prober import found_in

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def planted(tmp_path: Path) -> Planted:
    """A record in which everything was asked for once, so that it is in every table."""
    planted = Planted(tmp_path)
    app = planted.home.app
    for words in CANARIES.values():
        search(app, SearchRequest(words, all=True))
    prepare_vectors(app)
    title(app, TitleRequest(planted.doomed.id, GIVEN_TITLE))
    thread = planted.home.rows("select t.uid from threads t join sessions s on s.id = t.session_id order by t.id")
    keepsakes = Keepsakes.open(app.home.vault, planted.home.clock)
    from fabula.kernel.ids import unpack_id

    for (uid,) in thread:
        keepsakes.pin("thread", unpack_id(uid))
    keepsakes.keep_card(unpack_id(planted.home.rows("select uid from threads where id=?", planted.home.thread_of(
        str(planted.doomed.records[0]["uuid"])))[0][0]), CARD)  # fmt: skip
    for row in planted.home.app.loader().rows("1", ()):
        raw, _ = app.loader().raw(row)
        from fabula.kernel.hashes import digest

        keepsakes.hand_out([(row.uid, digest(raw))], "a reader")
    keepsakes.close()
    folder = app.home.root / "logs"
    folder.mkdir()
    (folder / "defects.log").write_text(f"ValueError: {CANARIES['reply']}", encoding="utf-8")
    scratch = app.home.root / "scratch" / "fabula-left"
    scratch.mkdir(parents=True, exist_ok=True)
    (scratch / "copy.jsonl").write_bytes(planted.transcript.read_bytes())
    (app.home.vault / "journal.damaged.db").write_bytes((app.home.vault / "journal.db").read_bytes())
    return planted


def test_every_canary_is_there_before(planted: Planted) -> None:
    found = "\n".join(found_in(planted.root, WORDS))
    for word in WORDS:
        assert word in found


def test_no_canary_no_run_of_five_words_no_term_is_left(planted: Planted) -> None:
    result = planted.forget(planted.doomed.id)
    assert result.applied
    assert found_in(planted.root, needles()) == []


def test_nothing_is_left_when_the_record_is_used_again(planted: Planted) -> None:
    planted.forget(planted.doomed.id)
    planted.reopen()
    app = planted.home.app
    planted.home.scan()
    planted.home.scan(rebuild=True)
    app.record.seal()
    prepare_vectors(app)
    hits = search(app, SearchRequest("rate limiter slow Mondays", all=True)).hits
    assert [hit.session for hit in hits] == [planted.staying.id]
    assert found_in(planted.root, needles()) == []


def test_what_was_not_named_is_answered_as_before(planted: Planted) -> None:
    planted.forget(planted.doomed.id)
    app = planted.home.app
    raws = [app.loader().raw(row)[0] for row in app.loader().rows("1", ())]
    assert b"".join(raw + b"\n" for raw in raws if raw in planted.kept.read_bytes()) == planted.kept.read_bytes()
    with Vault.open(app.home.vault, app.clock, read_only=True) as vault:
        assert list(vault.verify()) == []
        kept = next(entry for entry in vault.sources() if entry.path == str(planted.kept))
        assert b"".join(vault.stream(kept.generations[-1].id)) == planted.kept.read_bytes()


def test_the_preview_names_what_goes_and_who_was_given_it(planted: Planted) -> None:
    result = planted.forget(planted.doomed.id)
    assert planted.doomed.id in result.sessions
    assert {one.reader for one in result.handed_out} == {"a reader"}
    assert str(planted.transcript) in {one.path for one in result.files if one.whole and one.on_disk}
    assert all(str(planted.kept) != one.path for one in result.files)


def test_a_forgotten_record_is_not_found_by_its_id(planted: Planted) -> None:
    uid = str(planted.doomed.records[0]["uuid"])
    planted.forget(planted.doomed.id)
    with pytest.raises(FabulaError) as caught:
        block(planted.home.app, BlockRequest(uid))
    assert caught.value.code == "ERR_FORGOTTEN"


def test_an_erased_source_leaves_no_name_in_the_ledger_once_it_is_gone(planted: Planted) -> None:
    planted.transcript.unlink()
    planted.forget(planted.doomed.id)
    with Vault.open(planted.root / "vault", planted.home.clock, read_only=True) as vault:
        assert str(planted.transcript) not in {entry.path for entry in vault.sources()}
        assert list(vault.verify()) == []
