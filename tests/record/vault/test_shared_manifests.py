"""What generations have in common is described once, wherever it lies in them, and forgotten in all of them."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from vault_builders import TickingClock, contents, open_vault, restored, seal, transcript

from fabula.record.vault.erasing import Erasure, erase
from fabula.record.vault.journal_shared import SHARED
from fabula.record.vault.vault import Vault

SESSION = transcript(2000, seed=3, size=60)


def manifest_bytes(vault: Vault) -> int:
    """Bytes of all parts of manifests."""
    queries = ("select sum(length(layout) + length(digests)) from segments",
               "select coalesce(sum(length(layout) + length(digests)), 0) from shared")  # fmt: skip
    return sum(vault.journal.rows(query)[0][0] for query in queries)


@pytest.mark.parametrize("before", [b"", b'{"title":"moved to the top"}\n', b"x" * 700 + b"\n"])
def test_a_file_that_is_sealed_again_costs_little_also_when_all_of_it_moved(tmp_path: Path, before: bytes) -> None:
    with open_vault(tmp_path / "vault") as vault:
        seal(vault, "/a", SESSION)
        once = manifest_bytes(vault)
        for number in range(10):
            again = seal(vault, "/a", before * (number % 2) + SESSION)
            assert restored(vault, again.id) == before * (number % 2) + SESSION
        assert manifest_bytes(vault) < once * 1.6
        assert list(vault.verify()) == []


def test_a_few_records_need_no_shared_part(tmp_path: Path) -> None:
    with open_vault(tmp_path / "vault") as vault:
        seal(vault, "/a", transcript(3))
        assert vault.journal.rows("select count(*) from shared") == [(0,)]


def test_what_is_forgotten_in_every_generation_leaves_no_shared_part_of_it(tmp_path: Path) -> None:
    gap = b"no json: zanzibarine quokka"  # stands in the manifest itself
    data = SESSION[: SESSION.index(b"\n", 5000) + 1] + gap + b"\n" + SESSION
    offset = data.index(gap)
    with open_vault(tmp_path / "vault") as vault:
        generations = []
        for path in ("/a", "/b"):
            source = vault.source("host", path, "session", "s")
            generations.append(vault.begin(source.id, provenance="original", immutable=False))
            spans = [s for s in _spans(data) if s[0] != offset]
            vault.append(generations[-1].id, 0, data, spans)
        vault.commit()
        assert _shared_with(vault, gap)
        erasure = Erasure(pieces={g.id: [_piece_at(vault, g.id, offset)] for g in generations})
        erase(vault.folder, vault.journal, erasure, 1)
        assert not _shared_with(vault, gap)
        assert list(vault.verify()) == []
        unused = "select count(*) from shared where name not in (select digests from segments where layout=?)"
        assert vault.journal.rows(unused, (SHARED,)) == [(0,)]
        start = SESSION.index(b"\n", 5000) + 1
        assert vault.read(generations[1].id, offset + len(gap) + 1, 400) == SESSION[:400]
        assert vault.read(generations[0].id, 0, start - 1) == SESSION[: start - 1]


def _spans(data: bytes) -> list[tuple[int, int]]:
    from vault_builders import line_spans

    return line_spans(data)


def _piece_at(vault: Vault, generation: int, offset: int) -> tuple[int, int]:
    from fabula.record.vault.manifest import Segment

    row = vault.journal.segment_before(generation, offset)
    assert row is not None
    piece = next(Segment(*row).pieces(offset))
    return piece.offset, piece.length


def _shared_with(vault: Vault, text: bytes) -> bool:
    from fabula.record.vault.manifest import Segment

    rows = vault.journal.rows("select offset, length, layout, digests from manifests")
    return any(text in piece.value for row in rows for piece in Segment(*row).pieces())


def test_a_shared_part_that_is_lost_is_named_and_comes_back_from_the_copy(tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    with open_vault(folder) as vault:
        seal(vault, "/a", SESSION)
        before = contents(vault)
    connection = apsw.Connection(str(folder / "journal.db"))
    connection.execute("delete from shared where name=(select min(name) from shared)")
    connection.close()
    with open_vault(folder, read_only=True) as vault:
        assert "a part of the manifest is missing" in {damage.problem for damage in vault.verify()}
    Vault.repair(folder, TickingClock())
    with open_vault(folder, read_only=True) as vault:
        assert contents(vault) == before
        assert list(vault.verify()) == []


def _as_before(folder: Path) -> None:
    """Make the journal one of the first form, which knew no shared parts."""
    connection = apsw.Connection(str(folder / "journal.db"))
    with connection:
        rows = connection.execute(
            "select s.generation_id, s.offset, h.layout, h.digests from segments s join shared h on h.name = s.digests"
        ).fetchall()
        from fabula.record.vault.marks import mark

        for generation, offset, layout, digests in rows:
            (length,) = connection.execute(
                "select length from segments where generation_id=? and offset=?", (generation, offset)
            ).fetchone()
            connection.execute(
                "update segments set layout=?, digests=?, mark=? where generation_id=? and offset=?",
                (layout, digests, mark(generation, offset, length, layout, digests), generation, offset),
            )
        connection.execute("drop view manifests; drop table shared; delete from meta where key='copy'")
    connection.close()


def test_a_vault_of_the_first_form_is_read_written_verified_and_repaired(tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    with open_vault(folder) as vault:
        seal(vault, "/a", SESSION)
        before = contents(vault)
    _as_before(folder)
    with open_vault(folder, read_only=True) as vault:
        assert contents(vault) == before
        assert list(vault.verify()) == []
    with open_vault(folder) as vault:
        seal(vault, "/b", SESSION)
        assert contents(vault) == {**before, ("/b", 0): SESSION}
        assert list(vault.verify()) == []
    _as_before(folder)
    assert Vault.repair(folder, TickingClock()).problems == ()
    with open_vault(folder, read_only=True) as vault:
        assert contents(vault) == {**before, ("/b", 0): SESSION}
        assert list(vault.verify()) == []
