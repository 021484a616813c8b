"""A journal that is lost altogether comes back from its copy: which records made up which file, and what was added."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vault_builders import TickingClock, begin, contents, line_spans, open_vault, seal, transcript

from fabula.kernel.errors import FabulaError
from fabula.record.vault import journal_copy
from fabula.record.vault.folder import copies_on_disk
from fabula.record.vault.keepsakes import Keepsakes
from fabula.record.vault.vault import Vault


def said(folder: Path) -> dict[str, object]:
    """All that a vault says."""
    with open_vault(folder, read_only=True) as vault:
        assert list(vault.verify()) == []
        keepsakes = Keepsakes(vault.journal, TickingClock())
        return {
            "contents": contents(vault), "sources": vault.sources(), "pins": keepsakes.pins(),
            "titles": keepsakes.titles("session"), "cards": keepsakes.cards(), "citations": keepsakes.citations("u"),
            "buried": [keepsakes.is_buried("record", bytes([number])) for number in range(4)],
        }  # fmt: skip


def lose_journal(folder: Path) -> None:
    for path in folder.glob("journal.db*"):
        path.unlink()


def copy_of(folder: Path) -> Path:
    (name,) = copies_on_disk(folder).values()
    return folder / "packs" / name


def keep_things(folder: Path) -> None:
    keepsakes = Keepsakes.open(folder, TickingClock())
    keepsakes.pin("session", "a")
    keepsakes.pin("session", "b")
    keepsakes.unpin("session", "a")
    keepsakes.entitle("session", "s", "One")
    keepsakes.entitle("session", "s", "Two")
    keepsakes.keep_card("t", "{}")
    keepsakes.hand_out([("u", b"d" * 32)], "agent")
    keepsakes.bury("record", b"\x01")
    keepsakes.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A vault of two vanished files in three generations, with an unterminated line and keepsakes."""
    folder = tmp_path / "vault"
    with open_vault(folder) as vault:
        generation = seal(vault, "/gone", transcript(40, seed=1))
        vault.set_tail(generation.id, b'{"torn')
        seal(vault, "/gone", transcript(20, seed=2) + b"\x00" * 2000)
        seal(vault, b"/odd-\xff".decode(errors="surrogateescape"), transcript(9, seed=3))
        vault.vanished(1)
        vault.commit()
    keep_things(folder)
    return folder


@pytest.mark.usefixtures("small_packs")
def test_a_lost_journal_comes_back_with_all_that_it_said(folder: Path) -> None:
    before = said(folder)
    lose_journal(folder)
    report = Vault.repair(folder, TickingClock())
    assert report.problems == ("journal.db is missing: its copy gives back all that was committed",)
    assert said(folder) == before
    with open_vault(folder) as vault:
        seal(vault, "/gone", transcript(60, seed=4))
    lose_journal(folder)
    Vault.repair(folder, TickingClock())
    assert said(folder)["contents"] == {**before["contents"], ("/gone", 2): transcript(60, seed=4)}  # type: ignore[dict-item]


GROW, REWRITE, TAIL, GONE, PIN, UNPIN, TITLE, CARD, CITE, BURY, REOPEN = range(11)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(GROW, REOPEN), st.integers(0, 3)), max_size=14))
def test_whatever_was_done_a_lost_journal_comes_back(done: list[tuple[int, int]]) -> None:
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "vault"
        vault = open_vault(folder)
        seal(vault, "/0", transcript(3))
        keepsakes = Keepsakes.open(folder, TickingClock())
        for step, (what, number) in enumerate(done):
            path, ref = f"/{number}", str(number)
            source = vault.source("host", path, "session", "s")
            current = vault.current(source.id) or begin(vault, path)
            if what == GROW:
                more = transcript(number + 1, seed=step)
                vault.append(current.id, current.length, more, line_spans(more, current.length))
            elif what == REWRITE:
                begin(vault, path)
            elif what == TAIL:
                vault.set_tail(current.id, b"x" * step)
            elif what == GONE:
                vault.vanished(source.id)
            vault.commit()
            if what == PIN:
                keepsakes.pin("session", ref)
            elif what == UNPIN:
                keepsakes.unpin("session", ref)
            elif what == TITLE:
                keepsakes.entitle("session", ref, "t" * (step % 3))
            elif what == CARD:
                keepsakes.keep_card(ref, str(step))
            elif what == CITE:
                keepsakes.hand_out([("u", bytes([number]) * 32)], "agent")
            elif what == BURY:
                keepsakes.bury("record", bytes([number]))
            elif what == REOPEN:
                vault.close()
                vault = open_vault(folder)
        keepsakes.close()
        vault.close()
        before = said(folder)
        lose_journal(folder)
        Vault.repair(folder, TickingClock())
        assert said(folder) == before


def test_a_copy_that_outgrew_what_it_says_is_made_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_copy, "_SLACK", 2000)
    first = copy_of(folder)
    for number in range(60):
        keepsakes = Keepsakes.open(folder, TickingClock())
        keepsakes.entitle("session", "s", f"Title {number}" * 20)
        keepsakes.close()
    assert copy_of(folder) != first
    assert not first.exists()
    with open_vault(folder, read_only=True) as vault:
        _, length, begun = journal_copy.state_of(vault.journal.meta("copy"))
    assert copy_of(folder).stat().st_size == length < begun * 3 // 2 + 3000
    before = said(folder)
    lose_journal(folder)
    Vault.repair(folder, TickingClock())
    assert said(folder) == before


@pytest.mark.parametrize("place", [10, 200, 900, -30])
def test_damage_in_the_copy_is_found_and_repaired(folder: Path, place: int) -> None:
    before = said(folder)
    copy = copy_of(folder)
    data = bytearray(copy.read_bytes())
    data[place] ^= 4
    copy.write_bytes(data)
    with open_vault(folder, read_only=True) as vault:
        assert {damage.place for damage in vault.verify()} == {copy.name}
    Vault.repair(folder, TickingClock())
    assert said(folder) == before


def test_a_missing_copy_is_found_and_made_anew_by_the_next_change(folder: Path) -> None:
    before = said(folder)
    copy_of(folder).unlink()
    with open_vault(folder, read_only=True) as vault:
        assert [damage.problem for damage in vault.verify()] == ["the journal's copy: it is missing"]
    keep_things(folder)
    assert said(folder)["contents"] == before["contents"]


def test_of_a_damaged_copy_all_sound_parts_come_back(folder: Path) -> None:
    copy = copy_of(folder)
    data = bytearray(copy.read_bytes())
    data[-30] ^= 4  # in the last change of all: the tombstone
    copy.write_bytes(data)
    lose_journal(folder)
    report = Vault.repair(folder, TickingClock())
    assert any(copy.name in problem for problem in report.problems)
    back = said(folder)
    assert len(back["contents"]) == 3  # type: ignore[arg-type]
    assert back["titles"] == {"s": "Two"}
    assert back["buried"] == [False] * 4


@pytest.mark.parametrize(
    "harm",
    [
        "update sources set size=size+1",
        "update titles set title='Three'",
        "delete from segments where rowid=2",
        "delete from generations",
        "drop table sources",
        "delete from loose",
    ],
)
def test_rows_that_the_journal_lost_come_back_from_its_copy(folder: Path, harm: str) -> None:
    before = said(folder)
    connection = apsw.Connection(str(folder / "journal.db"))
    connection.execute("pragma foreign_keys=off")
    connection.execute(harm)
    connection.close()
    report = Vault.repair(folder, TickingClock())
    assert report.lost == 0
    assert said(folder) == before


def test_a_vault_without_a_copy_gets_one_with_the_next_change(folder: Path) -> None:
    with open_vault(folder) as vault:
        with vault.journal.connection:
            journal_copy.drop(vault.journal.connection, folder)
        assert copies_on_disk(folder) == {}
        assert list(vault.verify()) == []
        seal(vault, "/more", transcript(3, seed=9))
    before = said(folder)
    lose_journal(folder)
    Vault.repair(folder, TickingClock())
    assert said(folder) == before


def test_a_change_by_other_means_is_in_the_next_copy(folder: Path) -> None:
    with open_vault(folder) as vault:
        vault.journal.change("delete from cards where ref=?", [("t",)])
        seal(vault, "/more", transcript(3, seed=9))
    before = said(folder)
    assert before["cards"] == {}
    lose_journal(folder)
    Vault.repair(folder, TickingClock())
    assert said(folder) == before


def test_what_is_not_committed_is_not_in_the_copy(folder: Path) -> None:
    before = said(folder)
    with open_vault(folder) as vault:
        begin(vault, "/never")
    lose_journal(folder)
    Vault.repair(folder, TickingClock())
    assert said(folder) == before


def test_a_log_without_its_journal_is_never_applied_to_the_new_one(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    writer = apsw.Connection(str(other / "journal.db"))
    writer.execute("update titles set title='From elsewhere'")
    before = said(folder)
    lose_journal(folder)
    shutil.copy(other / "journal.db-wal", folder / "journal.db-wal")
    writer.close()
    Vault.repair(folder, TickingClock())
    assert said(folder) == before


def test_keepsakes_make_no_new_journal_where_it_was_lost(folder: Path) -> None:
    lose_journal(folder)
    with pytest.raises(FabulaError) as caught:
        Keepsakes.open(folder, TickingClock())
    assert caught.value.code == "ERR_VAULT_DAMAGED"
    assert not (folder / "journal.db").exists()
