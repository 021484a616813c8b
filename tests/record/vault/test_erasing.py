"""Erasing: holes in manifests, packs written anew, a journal without old pages; and collecting what nobody names."""

from __future__ import annotations

import shutil
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vault_builders import TickingClock, begin, line_spans, open_vault, seal, transcript

from fabula.kernel.errors import FabulaError
from fabula.record.vault import erasing
from fabula.record.vault.collecting import collect, look_for_garbage
from fabula.record.vault.erasing import Erasure, commit_erasure, erase
from fabula.record.vault.restoring import without_holes
from fabula.record.vault.vault import Vault
from fabula.storage.packs import PackReader
from fabula.testing.prober import found_in
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.record.vault.values import Generation

CANARY = b'{"uuid":"x","text":"Zyxquorvane lies below everything that was ever said in this house of ours"}'


def filled(folder: Path) -> tuple[Vault, Generation, bytes]:
    """Return a vault, open for writing, with one file of many packs; the canary is a line of it."""
    lines = transcript(300).splitlines(keepends=True)
    data = b"".join([*lines[:150], CANARY + b"\n", *lines[150:]])
    generation = sealed(folder, "/a", data)
    return open_vault(folder), generation, data


def sealed(folder: Path, path: str, data: bytes) -> Generation:
    """Seal a file with a writer of its own: who erases has written nothing else."""
    with open_vault(folder) as vault:
        return seal(vault, path, data)


def erased(vault: Vault, folder: Path, generation: Generation, offset: int, length: int) -> None:
    marks = {("bytes", sha256(CANARY).digest())}
    erase(folder, vault.journal, Erasure(pieces={generation.id: [(offset, length)]}, marks=marks), 1)


@pytest.mark.usefixtures("small_packs")
def test_the_record_is_gone_from_its_pack_and_every_other_is_where_it_was(tmp_path: Path) -> None:
    vault, generation, data = filled(tmp_path)
    packs = sorted(path.name for path in (tmp_path / "packs").iterdir())
    offset = data.index(CANARY)
    erased(vault, tmp_path, generation, offset, len(CANARY))
    assert vault.holes(generation.id) == [(offset, len(CANARY))]
    blank = data[:offset] + b" " * len(CANARY) + data[offset + len(CANARY) :]
    assert b"".join(vault.stream(generation.id, fill=b" ")) == blank
    with pytest.raises(FabulaError) as caught:
        vault.read(generation.id, offset, 10)
    assert caught.value.code == "ERR_FORGOTTEN"
    assert list(vault.verify()) == []
    vault.close()
    assert found_in(tmp_path, ["zyxquorvane"]) == []
    now = sorted(path.name for path in (tmp_path / "packs").iterdir() if "journal" not in path.name)
    assert len(set(packs) & set(now)) >= len(now) - 1  # one pack was written anew, the others are the same files


@pytest.mark.usefixtures("small_packs")
def test_bytes_that_were_forgotten_are_not_sealed_again_by_anybody(tmp_path: Path) -> None:
    vault, generation, data = filled(tmp_path)
    erased(vault, tmp_path, generation, data.index(CANARY), len(CANARY))
    vault.close()
    with open_vault(tmp_path) as again:
        other = begin(again, "/b")
        again.append(other.id, 0, data, line_spans(data))
        again.commit()
        assert [length for _, length in again.holes(other.id)] == [len(CANARY)]
        again.append(generation.id, len(data), b'{"more":1}\n', [(len(data), 10)])
        again.commit()
        assert again.read(generation.id, len(data), 10) == b'{"more":1}'
        assert list(again.verify()) == []
    assert found_in(tmp_path, ["zyxquorvane"]) == []


def test_what_another_file_still_names_stays(tmp_path: Path) -> None:
    other = sealed(tmp_path, "/b", CANARY + b"\n")
    vault, generation, data = filled(tmp_path)
    erase(tmp_path, vault.journal, Erasure(pieces={generation.id: [(data.index(CANARY), len(CANARY))]}), 1)
    assert vault.read(other.id, 0, len(CANARY)) == CANARY
    vault.close()


def test_a_new_pack_has_a_number_that_was_never_given(tmp_path: Path) -> None:
    big = b'{"text":"' + b"z" * 300_000 + b'"}'
    generation = sealed(tmp_path, "/a", big + b"\n")
    vault = open_vault(tmp_path)
    erase(tmp_path, vault.journal, Erasure(pieces={generation.id: [(0, len(big))]}), 1)
    vault.close()
    with open_vault(tmp_path) as again:
        seal(again, "/b", b'{"text":"' + b"y" * 300_000 + b'"}\n')
        assert [row[0] for row in again.journal.rows("select id from packs order by id")] == [2, 3]
        assert list(again.verify()) == []


@pytest.mark.usefixtures("small_packs")
def test_a_crash_after_the_commit_is_finished_by_the_next_writer(tmp_path: Path) -> None:
    vault, generation, data = filled(tmp_path)
    place = (data.index(CANARY), len(CANARY))
    commit_erasure(tmp_path, vault.journal, Erasure(pieces={generation.id: [place]}), 1)
    vault.close()
    with open_vault(tmp_path, read_only=True) as reader, pytest.raises(FabulaError):
        reader.read(generation.id, *place)  # unreachable already
    open_vault(tmp_path).close()
    assert found_in(tmp_path, ["zyxquorvane"]) == []


@pytest.mark.usefixtures("small_packs")
def test_a_reader_in_another_process_goes_on_reading(tmp_path: Path) -> None:
    vault, generation, data = filled(tmp_path)
    with open_vault(tmp_path, read_only=True) as reader:
        first = reader.read(generation.id, 0, 2_000)
        erased(vault, tmp_path, generation, data.index(CANARY), len(CANARY))
        assert reader.read(generation.id, 0, 2_000) == first
        rest = data[data.index(CANARY) + len(CANARY) :]
        assert reader.read(generation.id, len(data) - len(rest), len(rest)) == rest
    vault.close()


def test_a_reader_that_holds_old_pages_is_waited_for_then_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasing, "BUSY_MILLISECONDS", 10)
    vault, generation, data = filled(tmp_path)
    with open_vault(tmp_path, read_only=True) as reader:
        cursor = reader.journal.connection.execute("select * from segments union all select * from segments")
        next(cursor)
        with pytest.raises(FabulaError) as caught:
            erased(vault, tmp_path, generation, data.index(CANARY), len(CANARY))
        assert caught.value.code == "ERR_LOCKED"
        cursor.close()
    vault.close()
    open_vault(tmp_path).close()
    assert found_in(tmp_path, ["zyxquorvane"]) == []


@given(st.lists(st.integers(0, 20), unique=True, max_size=12))
@settings(max_examples=25, deadline=None)
def test_whatever_lines_go_the_rest_comes_back(gone: list[int]) -> None:
    import tempfile
    from pathlib import Path

    lines = transcript(21, seed=9).splitlines(keepends=True)
    data = b"".join(lines)
    spans = line_spans(data)
    with tempfile.TemporaryDirectory() as name:
        generation = sealed(Path(name), "/a", data)
        vault = open_vault(Path(name))
        erase(Path(name), vault.journal, Erasure(pieces={generation.id: [spans[at] for at in sorted(gone)]}), 1)
        left = b"".join(vault.stream(generation.id, fill=b"\0"))
        kept = b"".join(line for at, line in enumerate(lines) if at not in gone)
        assert len(left) == len(data)
        assert without_holes(left, vault.holes(generation.id)) == kept
        assert list(vault.verify()) == []
        vault.close()


@pytest.mark.parametrize("between", ["collecting", "a repair"])
def test_a_forgetting_that_was_not_finished_stays_one(tmp_path: Path, between: str) -> None:
    """A collecting leaves damaged packs and what a repair kept alone; a forgetting does not."""
    vault, generation, data = filled(tmp_path)
    erasure = Erasure({generation.id: [(data.index(CANARY), len(CANARY))]}, marks={("bytes", sha256(CANARY).digest())})
    commit_erasure(tmp_path, vault.journal, erasure, 1)
    (tmp_path / "journal.damaged.db").write_bytes(CANARY)
    if between == "collecting":
        collected(vault, tmp_path)
        vault.close()
    else:
        vault.close()
        Vault.repair(tmp_path, TickingClock())
    assert found_in(tmp_path, ["zyxquorvane"]) == []


# -- collecting ------------------------------------------------------------------------------------------------------


def collected(vault: Vault, folder: Path) -> None:
    collect(folder, vault.journal, look_for_garbage(folder, vault.journal))


def test_a_sound_vault_has_nothing_to_collect_however_many_states_a_file_has(tmp_path: Path) -> None:
    data = transcript(40)
    first, second = sealed(tmp_path, "/a", data), sealed(tmp_path, "/a", data + CANARY + b"\n")
    with open_vault(tmp_path) as vault:
        assert look_for_garbage(tmp_path, vault.journal).nothing
        collected(vault, tmp_path)
        assert b"".join(vault.stream(first.id)) == data
        assert b"".join(vault.stream(second.id)) == data + CANARY + b"\n"


@pytest.mark.usefixtures("small_packs")
def test_records_that_no_manifest_names_go(tmp_path: Path) -> None:
    kept = sealed(tmp_path, "/b", transcript(50, seed=2))
    vault, generation, _ = filled(tmp_path)
    vault.journal.change("delete from segments where generation_id=?", [(generation.id,)])
    vault.journal.change("delete from generations where id=?", [(generation.id,)])
    garbage = look_for_garbage(tmp_path, vault.journal)
    assert len(garbage.unnamed) == 301
    assert garbage.packs > 1
    collect(tmp_path, vault.journal, garbage)
    assert b"".join(vault.stream(kept.id)) == transcript(50, seed=2)
    assert list(vault.verify()) == []
    assert look_for_garbage(tmp_path, vault.journal).nothing
    vault.close()
    assert found_in(tmp_path, ["zyxquorvane"]) == []


def test_a_stray_pack_goes_when_all_of_it_is_held_elsewhere_and_else_stays(tmp_path: Path) -> None:
    folder, other = tmp_path / "one", tmp_path / "other"
    big = b'{"text":"' + b"z" * 300_000 + b'"}\n'
    sealed(folder, "/a", big)
    sealed(other, "/a", big)
    with open_vault(folder) as vault:
        packs = folder / "packs"
        shutil.copy(packs / "records-000001.pack", packs / "records-000007.pack")
        shutil.copy(other / "packs" / "records-000001.pack", packs / "records-000008.pack")
        (packs / "records-000009.pack").write_bytes(b"something else")
        reasons = {stray.name: stray.reason for stray in look_for_garbage(folder, vault.journal).strays}
        assert reasons["records-000007.pack"] == ""
        assert "another vault" in reasons["records-000008.pack"]
        assert reasons["records-000009.pack"]
        collected(vault, folder)
        names = {path.name for path in packs.iterdir() if "journal" not in path.name}
        assert names == {"records-000001.pack", "records-000008.pack", "records-000009.pack"}


def test_a_stray_pack_with_records_that_nobody_else_holds_stays(tmp_path: Path) -> None:
    generation = sealed(tmp_path, "/a", b'{"text":"' + b"z" * 300_000 + b'"}\n')
    with open_vault(tmp_path) as vault:
        for table in ("frames", "blobs", "packs"):
            vault.journal.change(f"delete from {table}", [()])
        vault.journal.change("delete from segments where generation_id=?", [(generation.id,)])
        stray = look_for_garbage(tmp_path, vault.journal).strays[0]
        assert "nowhere else" in stray.reason


def test_nothing_is_collected_where_something_is_lost(tmp_path: Path) -> None:
    with open_vault(tmp_path) as vault:
        seal(vault, "/a", transcript(5))
        vault.journal.change("delete from loose where id=?", [(1,)])
        with pytest.raises(FabulaError) as caught:
            look_for_garbage(tmp_path, vault.journal)
        assert caught.value.code == "ERR_VAULT_DAMAGED"


def test_a_damaged_frame_is_left_out_by_forgetting_and_left_alone_by_collecting(tmp_path: Path) -> None:
    doomed = sealed(tmp_path, "/a", b'{"text":"' + b"z" * 300_000 + b'"}\n')
    kept = sealed(tmp_path, "/b", b'{"text":"' + b"y" * 300_000 + b'"}\n')
    with open_vault(tmp_path) as vault:
        path = tmp_path / "packs" / "records-000001.pack"
        pack = PackReader(path)
        frames = [part for part in pack.walk(pack.size()) if not isinstance(part, str)]
        pack.close()
        data = bytearray(path.read_bytes())
        data[frames[1].offset + frames[1].length - 3] ^= 0xFF
        path.write_bytes(data)
        vault.journal.change("delete from segments where generation_id=?", [(doomed.id,)])
        vault.journal.change("delete from generations where id=?", [(doomed.id,)])
        collected(vault, tmp_path)
        assert path.exists()
        assert [damage.touched[0].path for damage in vault.verify() if damage.touched] == ["/b"]
        erase(tmp_path, vault.journal, Erasure(pieces={kept.id: [(0, 300_011)]}), 1)
        assert not path.exists()


def test_a_scan_that_finds_nothing_new_finishes_what_is_left_to_erase(tmp_path: Path) -> None:
    home = RecordHome(tmp_path)
    session = ClaudeSession("one")
    session.prompt("Zyxquorvane is here")
    home.save(session)
    home.scan()
    vault = home.app.home.vault
    with Vault.open(vault, home.clock) as writer:
        writer.journal.put("meta", [("erasing", b"collecting")])
    assert home.scan().files_read == 0
    with Vault.open(vault, home.clock, read_only=True) as reader:
        assert reader.journal.meta("erasing") is None


def test_a_stray_pack_that_holds_what_is_forgotten_goes_or_is_named_and_a_repair_takes_in_the_rest(
    tmp_path: Path,
) -> None:
    big, other = (b'{"text":"' + letter * 300_000 + b'"}' for letter in (b"z", b"y"))
    doomed = sealed(tmp_path, "/a", big + b"\n")
    packs = tmp_path / "packs"
    shutil.copy(packs / "records-000001.pack", packs / "records-000007.pack")
    sealed(tmp_path, "/b", other + b"\n")
    shutil.copy(packs / "records-000001.pack", packs / "records-000008.pack")
    with open_vault(tmp_path) as vault:
        vault.journal.change("delete from blobs where digest=?", [(sha256(other).digest(),)])
        marks = {("bytes", sha256(big).digest())}
        swept = erase(tmp_path, vault.journal, Erasure(pieces={doomed.id: [(0, len(big))]}, marks=marks), 1)
    assert not (packs / "records-000007.pack").exists()
    assert [problem.partition(":")[0] for problem in swept.unreadable] == ["records-000008.pack"]
    Vault.repair(tmp_path, TickingClock())
    with open_vault(tmp_path) as vault:
        assert vault.journal.holds(sha256(other).digest())
        assert not vault.journal.holds(sha256(big).digest())
        assert list(vault.verify()) == []
    assert found_in(tmp_path, ["z" * 1000]) == []
