"""What people and agents added outlives the map."""

from __future__ import annotations

from pathlib import Path

from vault_builders import TickingClock, open_vault, seal

from fabula.record.vault.keepsakes import Keepsakes


def test_pins_titles_cards_and_citations_are_kept(tmp_path: Path) -> None:
    keepsakes = Keepsakes.open(tmp_path / "vault", TickingClock())
    assert keepsakes.pin("session", "s1")
    assert not keepsakes.pin("session", "s1")
    keepsakes.pin("thread", "t1")
    keepsakes.entitle("session", "s1", "First")
    keepsakes.entitle("session", "s1", "Second")
    keepsakes.keep_card("t1", '{"title":"x"}')
    keepsakes.hand_out([("u1", b"d" * 32), ("u2", b"e" * 32)], "agent")
    keepsakes.hand_out([("u1", b"d" * 32)], "agent")
    keepsakes.close()
    with open_vault(tmp_path / "vault", read_only=True) as vault:
        kept = Keepsakes(vault.journal, TickingClock())
        assert [(pin.kind, pin.ref) for pin in kept.pins()] == [("thread", "t1"), ("session", "s1")]
        assert kept.titles("session") == {"s1": "Second"}
        assert kept.cards() == {"t1": '{"title":"x"}'}
        (citation,) = kept.citations("u1")
        assert (citation.digest, citation.reader) == (b"d" * 32, "agent")
        assert citation.last_at > citation.first_at
        assert list(vault.verify()) == []


def test_pins_and_titles_can_be_taken_away(tmp_path: Path) -> None:
    keepsakes = Keepsakes.open(tmp_path / "vault", TickingClock())
    keepsakes.pin("session", "s1")
    keepsakes.entitle("session", "s1", "Name")
    assert keepsakes.unpin("session", "s1")
    assert not keepsakes.unpin("session", "s1")
    keepsakes.entitle("session", "s1", "")
    assert (keepsakes.pins(), keepsakes.titles("session")) == ([], {})
    keepsakes.close()


def test_they_can_be_written_while_a_scan_is_sealing(tmp_path: Path) -> None:
    with open_vault(tmp_path / "vault") as vault:
        seal(vault, "/a", b'{"a":1}\n')
        keepsakes = Keepsakes.open(tmp_path / "vault", TickingClock())
        assert keepsakes.pin("session", "s1")
        keepsakes.close()
        seal(vault, "/b", b'{"b":1}\n')
        assert [pin.ref for pin in Keepsakes(vault.journal, TickingClock()).pins()] == ["s1"]
        assert [entry.path for entry in vault.sources()] == ["/a", "/b"]


def test_a_tombstone_tells_nothing_to_who_lacks_the_key(tmp_path: Path) -> None:
    prints = []
    for name in ("one", "two"):
        keepsakes = Keepsakes.open(tmp_path / name, TickingClock())
        keepsakes.bury("record", b"secret")
        assert keepsakes.is_buried("record", b"secret")
        assert not keepsakes.is_buried("session", b"secret")
        assert not keepsakes.is_buried("record", b"other")
        keepsakes.close()
        with open_vault(tmp_path / name, read_only=True) as vault:
            prints.append(vault.journal.rows("select print from tombstones"))
    assert prints[0] != prints[1]
