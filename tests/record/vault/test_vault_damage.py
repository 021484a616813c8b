"""Damage is found wherever it is, named with what it hits, never served, and mended where that is possible."""

from __future__ import annotations

import random
import shutil
from hashlib import sha256
from pathlib import Path

import apsw
import pytest
from vault_builders import TickingClock, begin, contents, line_spans, open_vault, restored, seal, transcript

from fabula.kernel.errors import FabulaError
from fabula.kernel.hashes import digest_text
from fabula.record.vault.keepsakes import Keepsakes
from fabula.record.vault.values import Damage
from fabula.record.vault.vault import Vault

pytestmark = pytest.mark.usefixtures("small_packs")


@pytest.fixture
def vault_folder(tmp_path: Path) -> Path:
    """A vault with closed and open packs, loose records, a tail, a second generation and keepsakes."""
    folder = tmp_path / "vault"
    live = tmp_path / "live.jsonl"
    live.write_bytes(transcript(150, seed=5))
    with open_vault(folder) as vault:
        generation = seal(vault, str(live), live.read_bytes())
        vault.set_tail(generation.id, b'{"torn')
        seal(vault, "/gone", transcript(30, seed=6))
        seal(vault, "/gone", transcript(31, seed=7) + b"\x00" * 2000)
    keepsakes = Keepsakes.open(folder, TickingClock())
    keepsakes.pin("session", "s")
    keepsakes.entitle("session", "s", "A title")
    keepsakes.keep_card("t", "{}")
    keepsakes.hand_out([("uid", bytes(32))], "agent")
    keepsakes.bury("record", b"secret")
    keepsakes.close()
    return folder


def damages(folder: Path) -> list[Damage]:
    with open_vault(folder, read_only=True) as vault:
        return list(vault.verify())


def flip(path: Path, bit: int) -> None:
    data = bytearray(path.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)


def everything(folder: Path) -> list[object]:
    """All that a vault says."""
    with open_vault(folder, read_only=True) as vault:
        keepsakes = Keepsakes(vault.journal, TickingClock())
        return [
            contents(vault), vault.sources(), keepsakes.pins(), keepsakes.titles("session"), keepsakes.cards(),
            keepsakes.citations("uid"), keepsakes.is_buried("record", b"secret"), keepsakes.is_buried("record", b"no"),
        ]  # fmt: skip


def test_a_sound_vault_has_no_damage(vault_folder: Path) -> None:
    assert damages(vault_folder) == []


@pytest.mark.parametrize("seed", range(8))
def test_every_flipped_bit_in_a_pack_is_found(vault_folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    packs = sorted((vault_folder / "packs").iterdir())
    for _ in range(12):
        pack = chance.choice(packs)
        bit = chance.randrange(pack.stat().st_size * 8)
        flip(pack, bit)
        found = damages(vault_folder)
        assert found, f"{pack.name} bit {bit}"
        assert any(d.place == pack.name for d in found)
        flip(pack, bit)


@pytest.mark.parametrize("seed", range(8))
def test_a_flipped_bit_in_the_journal_is_found_or_changes_nothing(vault_folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    journal = vault_folder / "journal.db"
    before = everything(vault_folder)
    size = journal.stat().st_size
    for _ in range(25):
        bit = chance.randrange(size * 8)
        flip(journal, bit)
        try:
            found: object = damages(vault_folder)
        except FabulaError as error:
            found = error
            assert error.code in {"ERR_DATABASE", "ERR_VAULT_FORMAT", "ERR_DISK"}, error
        if not found:
            assert everything(vault_folder) == before, f"bit {bit} went unseen"
        flip(journal, bit)


@pytest.mark.parametrize("seed", range(4))
def test_a_journal_with_any_flipped_bit_can_be_repaired_to_one_that_works(vault_folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    sound = (vault_folder / "journal.db").read_bytes()
    for _ in range(6):
        (vault_folder / "journal.db").write_bytes(sound)
        bit = chance.randrange(len(sound) * 8)
        flip(vault_folder / "journal.db", bit)
        Vault.repair(vault_folder, TickingClock())
        with open_vault(vault_folder) as vault:
            generation = seal(vault, f"/after/{bit}", transcript(20, seed=bit))
            assert restored(vault, generation.id) == transcript(20, seed=bit)


@pytest.mark.parametrize("where", ["magic", "digest", "payload"])
def test_damage_names_the_pack_the_frame_the_records_and_the_spans(vault_folder: Path, where: str) -> None:
    with open_vault(vault_folder, read_only=True) as vault:
        offset, length, records = vault.journal.rows(
            "select offset, length, records from frames where pack_id=1 order by offset limit 1 offset 1"
        )[0]
        digests = {
            digest_text(row[0])
            for row in vault.journal.rows(
                "select digest from blobs join frames on id=frame_id where pack_id=1 and offset=?", (offset,)
            )
        }
    pack = vault_folder / "packs" / "records-000001.pack"
    flip(pack, (offset + {"magic": 0, "digest": 40, "payload": length - 5}[where]) * 8)
    damage = next(d for d in damages(vault_folder) if d.offset == offset)
    assert damage.place == pack.name
    assert set(damage.digests) == digests
    assert len(damage.touched) == len(digests) == records
    content = transcript(150, seed=5)
    for span in damage.touched:
        assert span.path.endswith("live.jsonl")
        assert digest_text(sha256(content[span.offset : span.offset + span.length]).digest()) in digests


def test_damaged_bytes_are_never_served(vault_folder: Path) -> None:
    with open_vault(vault_folder, read_only=True) as vault:
        generation = vault.sources()[0].generations[0]
    pack = vault_folder / "packs" / "records-000001.pack"
    flip(pack, 1000 * 8)
    with open_vault(vault_folder, read_only=True) as vault:
        for read in (
            lambda: restored(vault, generation.id),
            lambda: vault.restore(generation.id, vault_folder / "out"),
            lambda: vault.read(generation.id, 0, 50),
        ):
            with pytest.raises(FabulaError) as caught:
                read()
            assert caught.value.code == "ERR_VAULT_DAMAGED"
            assert "records-000001.pack" in caught.value.message
        assert not (vault_folder / "out").exists()
        assert vault.read(generation.id, generation.length - 40, 40) == transcript(150, seed=5)[-40:]


def test_a_record_replaced_by_another_is_found_though_all_checksums_fit(tmp_path: Path) -> None:
    with open_vault(tmp_path / "vault") as vault:
        generation = seal(vault, "/a", b'{"a":1}\n')
        vault.journal.change("update loose set data=? where data=?", [(b'{"a":2}', b'{"a":1}')])
        with pytest.raises(FabulaError, match="does not match its digest"):
            vault.read(generation.id, 0, 7)
        assert [d.place for d in vault.verify()] == ["journal.db: loose"]


def test_a_missing_pack_is_named_with_what_it_held(vault_folder: Path) -> None:
    (vault_folder / "packs" / "records-000001.pack").unlink()
    damage = damages(vault_folder)[0]
    assert damage.place == "records-000001.pack"
    assert damage.digests
    assert damage.touched


def test_a_pack_that_lost_its_end_is_not_written_on(vault_folder: Path) -> None:
    with open_vault(vault_folder, read_only=True) as vault:
        number, length = vault.journal.rows("select id, length from packs where closed=0 and class=0")[0]
    pack = vault_folder / "packs" / f"records-{number:06d}.pack"
    with pack.open("r+b") as file:
        file.truncate(length - 10)
    with open_vault(vault_folder) as vault:
        generation = seal(vault, "/more", transcript(40, seed=8))
        assert restored(vault, generation.id) == transcript(40, seed=8)
    assert pack.stat().st_size == length - 10
    assert {d.place for d in damages(vault_folder)} == {pack.name}


def test_damage_at_the_end_of_a_file_does_not_keep_it_from_growing(vault_folder: Path) -> None:
    with open_vault(vault_folder) as vault:
        seal(vault, "/gone", b'{"last":1}\n')
        row = vault.journal.rows("select id, data from loose order by id desc")[0]
        vault.journal.change("update loose set data=? where id=?", [(b"?" + row[1][1:], row[0])])
        source = vault.source("host", "/gone", "session", "s")
        current = vault.current(source.id)
        assert current is not None
        vault.append(current.id, current.length, b'{"more":1}\n', line_spans(b'{"more":1}\n', current.length))
        vault.commit()
        assert vault.read(current.id, current.length, 11) == b'{"more":1}\n'


# -- repair --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "harm",
    [
        "delete from blobs",
        "delete from frames",
        "delete from packs",
        "drop table blobs",
        "drop table frames; drop table packs; drop table blobs",
        "update blobs set start=start+1",
    ],
)
def test_the_index_of_records_is_made_anew_from_the_packs(vault_folder: Path, harm: str) -> None:
    before = everything(vault_folder)
    connection = apsw.Connection(str(vault_folder / "journal.db"))
    connection.execute(harm)
    connection.close()
    assert damages(vault_folder)
    report = Vault.repair(vault_folder, TickingClock())
    assert (report.lost, report.problems) == (0, ())
    assert damages(vault_folder) == []
    assert everything(vault_folder) == before
    with open_vault(vault_folder) as vault:
        more = seal(vault, "/more", transcript(50, seed=9))
        assert restored(vault, more.id) == transcript(50, seed=9)
    assert damages(vault_folder) == []


def test_lost_records_are_sealed_again_where_the_source_still_has_them(vault_folder: Path) -> None:
    before = everything(vault_folder)
    flip(vault_folder / "packs" / "records-000001.pack", 1000 * 8)
    report = Vault.repair(vault_folder, TickingClock())
    assert report.mended > 0
    assert report.lost == 0
    assert report.problems
    assert damages(vault_folder) == []
    assert everything(vault_folder) == before


def test_what_nothing_holds_any_more_is_counted_as_lost_and_stays_named(vault_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "live.jsonl").unlink()
    flip(vault_folder / "packs" / "records-000001.pack", 1000 * 8)
    report = Vault.repair(vault_folder, TickingClock())
    assert report.mended == 0
    assert report.lost > 0
    damage = damages(vault_folder)
    assert sum(len(d.digests) for d in damage) == report.lost
    assert all(d.touched for d in damage)


def test_a_lost_journal_is_not_replaced_by_an_empty_one(vault_folder: Path) -> None:
    (vault_folder / "journal.db").unlink()
    with pytest.raises(FabulaError) as caught:
        open_vault(vault_folder)
    assert caught.value.code == "ERR_VAULT_DAMAGED"
    assert caught.value.suggestions == ("fabula record verify --repair",)
    report = Vault.repair(vault_folder, TickingClock())
    assert report.records > 100
    assert "missing" in report.problems[0]
    with open_vault(vault_folder) as vault:  # what is sealed again costs no second copy
        stored = vault.stats().records
        seal(vault, "/again", transcript(150, seed=5))
        assert vault.stats().records <= stored + 20


@pytest.mark.parametrize("page", [0, 1, 3, 8])
def test_of_a_broken_journal_the_rest_is_kept(vault_folder: Path, page: int) -> None:
    journal = vault_folder / "journal.db"
    data = bytearray(journal.read_bytes())
    data[page * 4096 : (page + 1) * 4096] = b"\xa5" * 4096
    journal.write_bytes(data)
    report = Vault.repair(vault_folder, TickingClock())
    assert (vault_folder / "journal.damaged.db").read_bytes() == data
    assert report.records > 100
    for damage in damages(vault_folder):  # what is lost is said, and nothing else is wrong
        assert damage.place.startswith("journal.db")
    with open_vault(vault_folder) as vault:
        more = seal(vault, "/more", transcript(50, seed=9))
        assert restored(vault, more.id) == transcript(50, seed=9)


def test_a_pack_of_another_vault_is_not_taken_in(vault_folder: Path, tmp_path: Path) -> None:
    with open_vault(tmp_path / "other") as other:
        seal(other, "/x", transcript(60, seed=11))
    shutil.copy(tmp_path / "other" / "packs" / "records-000001.pack", vault_folder / "packs" / "records-000099.pack")
    assert [d.problem for d in damages(vault_folder)] == ["the journal does not know this pack"]
    report = Vault.repair(vault_folder, TickingClock())
    assert any("another vault" in problem for problem in report.problems)
    with open_vault(vault_folder) as vault:
        seal(vault, "/more", transcript(60, seed=12))
    assert (vault_folder / "packs" / "records-000099.pack").exists()


def test_repairing_waits_for_the_writer(vault_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabula.record.vault.vault.LOCK_WAIT_SECONDS", 0.05)
    with open_vault(vault_folder), pytest.raises(FabulaError) as caught:
        Vault.repair(vault_folder, TickingClock())
    assert caught.value.code == "ERR_LOCKED"


def test_there_is_nothing_to_repair_without_a_vault(tmp_path: Path) -> None:
    with pytest.raises(FabulaError) as caught:
        Vault.repair(tmp_path / "none", TickingClock())
    assert caught.value.code == "ERR_NO_RECORD"
    assert not (tmp_path / "none").exists()


def test_a_hole_is_never_filled_and_says_that_it_was_meant(tmp_path: Path) -> None:
    from fabula.record.vault.manifest import HOLE, RECORD, Layout
    from fabula.storage.packs_codec import Compressor

    with open_vault(tmp_path / "vault") as vault:
        generation = begin(vault, "/a")
        vault.append(generation.id, 0, b"keep me\nforget!\n", [(0, 7), (8, 7)])
        vault.commit()
        layout = Layout()
        layout.kinds += bytes([RECORD, HOLE])
        layout.lengths += [7, 9]
        layout.digests.append(sha256(b"keep me").digest())
        from fabula.record.vault.marks import mark

        columns = layout.encode(Compressor())
        row = (generation.id, 0, 16, *columns)
        vault.journal.change("update segments set layout=?, digests=?, mark=?", [(*columns, mark(*row))])
        assert vault.read(generation.id, 0, 7) == b"keep me"
        assert vault.digest(generation.id, 8, 7) is None
        for read in (lambda: vault.read(generation.id, 0, 9), lambda: restored(vault, generation.id)):
            with pytest.raises(FabulaError, match="forgotten on purpose") as caught:
                read()
            assert caught.value.code == "ERR_FORGOTTEN"
        assert list(vault.verify()) == []
