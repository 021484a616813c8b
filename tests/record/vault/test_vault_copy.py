"""A copy of a vault holds what the vault holds, costs what is new, and never what was erased."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from vault_builders import TickingClock, begin, contents, line_spans, open_vault, seal, transcript

from fabula.kernel.errors import FabulaError
from fabula.record.vault import copying
from fabula.record.vault.copying import CopyReport, copy_vault
from fabula.record.vault.folder import packs_on_disk
from fabula.record.vault.keepsakes import Keepsakes
from fabula.record.vault.vault import Vault

pytestmark = pytest.mark.usefixtures("small_packs")
HERE = Path(__file__).parent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    with open_vault(folder) as vault:
        generation = seal(vault, "/a", transcript(150, seed=1))
        vault.set_tail(generation.id, b'{"torn')
        seal(vault, "/b", transcript(40, seed=2))
    return folder


def copy(folder: Path, target: Path) -> CopyReport:
    return copy_vault(folder, target, TickingClock())


def grow(folder: Path, seed: int = 9, records: int = 30) -> None:
    with open_vault(folder) as vault:
        seal(vault, f"/more-{seed}", transcript(records, seed=seed))


def said(folder: Path, *, strays: bool = False) -> object:
    """All that a vault says. ``strays``: packs that a copy which was not finished left may lie there."""
    with open_vault(folder, read_only=True) as vault:
        assert not [d for d in vault.verify() if not (strays and d.problem == "the journal does not know this pack")]
        return contents(vault), vault.sources(), Keepsakes(vault.journal, TickingClock()).titles("session")


def test_a_copy_is_a_vault_that_says_the_same(folder: Path, tmp_path: Path) -> None:
    report = copy(folder, tmp_path / "copy")
    assert report.first
    assert report.packs_touched == report.packs + 1
    assert report.records_checked > 100
    assert said(tmp_path / "copy" / "vault") == said(folder)
    assert {path.stat().st_mode & 0o77 for path in (tmp_path / "copy").rglob("*")} == {0}


def test_a_copy_costs_what_is_new(folder: Path, tmp_path: Path) -> None:
    whole = copy(folder, tmp_path / "copy").bytes_copied
    again = copy(folder, tmp_path / "copy")
    assert (again.first, again.bytes_copied, again.records_checked, again.packs_touched) == (False, 0, 0, 0)
    grow(folder, records=3)
    keepsakes = Keepsakes.open(folder, TickingClock())
    keepsakes.entitle("session", "s", "Named")
    keepsakes.close()
    little = copy(folder, tmp_path / "copy")
    assert 0 < little.bytes_copied < whole / 10
    grow(folder)
    assert copy(folder, tmp_path / "copy").bytes_copied < whole
    assert said(tmp_path / "copy" / "vault") == said(folder)


def test_a_copy_of_a_copy_and_a_copy_put_to_use_are_vaults(folder: Path, tmp_path: Path) -> None:
    copy(folder, tmp_path / "copy")
    copy(tmp_path / "copy" / "vault", tmp_path / "third")
    assert said(tmp_path / "third" / "vault") == said(folder)
    grow(tmp_path / "third" / "vault")
    assert said(tmp_path / "third" / "vault") != said(folder)


@pytest.mark.parametrize("what", ["a file", "another vault", "used", "older", "unreadable", "within", "around"])
def test_what_is_no_copy_of_this_vault_is_never_written_to(folder: Path, tmp_path: Path, what: str) -> None:
    target = tmp_path / "copy"
    if what == "a file":
        target.mkdir()
        (target / "letter.txt").write_text("mine")
    elif what == "another vault":
        grow(tmp_path / "other" / "vault")
        copy(tmp_path / "other" / "vault", target)
    elif what == "used":
        copy(folder, target)
        grow(target / "vault")
    elif what == "older":
        shutil.copytree(folder, tmp_path / "before")
        grow(folder, records=90)
        copy(folder, target)
        folder = tmp_path / "before"
    elif what == "unreadable":
        copy(folder, target)
        (target / "fabula-copy.json").write_text("{")
    elif what == "within":
        target = folder / "packs" / "copy"
    elif what == "around":
        target = folder.parent
    before = {path: path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()}
    with pytest.raises(FabulaError) as caught:
        copy(folder, target)
    assert caught.value.code == "ERR_NOT_A_COPY"
    changed = {path for path in tmp_path.rglob("*") if path.is_file() and before.get(path) != path.read_bytes()}
    assert {path.name for path in changed} <= {"journal.copied.db", "vault.lock", "journal.db-shm", "journal.db-wal"}


def test_without_a_vault_nothing_is_begun(tmp_path: Path) -> None:
    with pytest.raises(FabulaError) as caught:
        copy(tmp_path / "none", tmp_path / "copy")
    assert caught.value.code == "ERR_NO_RECORD"
    assert not (tmp_path / "copy").exists()


def test_a_copy_may_be_made_while_the_vault_is_written(folder: Path, tmp_path: Path) -> None:
    with open_vault(folder) as vault:
        before = contents(vault)
        generation = begin(vault, "/new")
        data = transcript(120, seed=3)
        vault.append(generation.id, 0, data, line_spans(data))  # in the packs, and not committed
        copy(folder, tmp_path / "copy")
        with open_vault(tmp_path / "copy" / "vault", read_only=True) as copied:
            assert contents(copied) == before
            assert list(copied.verify()) == []
        vault.commit()
    copy(folder, tmp_path / "copy")
    assert said(tmp_path / "copy" / "vault") == said(folder)


def test_what_was_erased_from_the_vault_is_erased_from_the_copy(folder: Path, tmp_path: Path) -> None:
    copy(folder, tmp_path / "copy")
    with open_vault(folder) as vault:
        old = vault.journal.rows("select id from packs order by id limit 1")[0][0]
        _rewrite_pack(vault, old)
    report = copy(folder, tmp_path / "copy")
    assert report.packs_removed == 1
    assert old not in packs_on_disk(tmp_path / "copy" / "vault")
    assert said(tmp_path / "copy" / "vault") == said(folder)


def _rewrite_pack(vault: Vault, old: int) -> None:
    """As an erasure does: the pack's bytes go over into a pack of another number."""
    new = vault.journal.rows("select max(id)+1 from packs")[0][0]
    packs = vault.folder / "packs"
    shutil.copy(packs / f"records-{old:06d}.pack", packs / f"records-{new:06d}.pack")
    vault.journal.change_index("update packs set id=? where id=?", [(new, old)])
    vault.journal.change_index("update frames set pack_id=? where pack_id=?", [(new, old)])
    (packs / f"records-{old:06d}.pack").unlink()


def test_packs_that_go_while_they_are_copied_begin_it_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring, calls = copying.bring_pack, []

    def erased_meanwhile(*arguments: object) -> object:
        if not calls:
            calls.append(1)
            with open_vault(folder) as vault:
                _rewrite_pack(vault, 1)
        return bring(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(copying, "bring_pack", erased_meanwhile)
    copy(folder, tmp_path / "copy")
    assert said(tmp_path / "copy" / "vault") == said(folder)


def test_a_damaged_vault_leaves_a_sound_copy_alone(folder: Path, tmp_path: Path) -> None:
    copy(folder, tmp_path / "copy")
    before = said(tmp_path / "copy" / "vault")
    grow(folder, records=90)
    pack = folder / "packs" / list(packs_on_disk(folder).values())[-1]
    data = bytearray(pack.read_bytes())
    data[-300] ^= 1
    pack.write_bytes(data)
    with pytest.raises(FabulaError) as caught:
        copy(folder, tmp_path / "copy")
    assert caught.value.code == "ERR_VAULT_DAMAGED"
    assert pack.name in caught.value.message
    assert said(tmp_path / "copy" / "vault", strays=True) == before


def test_a_missing_pack_is_named(folder: Path, tmp_path: Path) -> None:
    (folder / "packs" / "records-000001.pack").unlink()
    with pytest.raises(FabulaError) as caught:
        copy(folder, tmp_path / "copy")
    assert caught.value.code == "ERR_VAULT_DAMAGED"
    assert "records-000001.pack" in caught.value.message


@pytest.mark.parametrize("lost", [0, 40, 5000])
def test_a_pack_that_the_copy_lost_the_end_of_comes_again(folder: Path, tmp_path: Path, lost: int) -> None:
    copy(folder, tmp_path / "copy")
    pack = tmp_path / "copy" / "vault" / "packs" / "records-000001.pack"
    with pack.open("r+b") as file:
        file.truncate(lost)
    copy(folder, tmp_path / "copy")
    assert said(tmp_path / "copy" / "vault") == said(folder)


def test_two_copies_into_one_folder_do_not_mix(folder: Path, tmp_path: Path) -> None:
    copy(folder, tmp_path / "copy")
    with open_vault(tmp_path / "copy" / "vault"), pytest.raises(FabulaError) as caught:
        copy(folder, tmp_path / "copy")
    assert caught.value.code == "ERR_LOCKED"


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="needs fork")
@pytest.mark.parametrize("how", ["before", "half", "full"])
def test_a_copy_stopped_at_any_step_is_the_old_or_the_new_and_is_finished_by_the_next(tmp_path: Path, how: str) -> None:
    done = subprocess.run(
        [sys.executable, str(HERE / "copy_crash_driver.py"), str(tmp_path), how],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout) > 20  # steps that were tried
