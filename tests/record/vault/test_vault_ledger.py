"""The ledger: what was seen, when, and which generations of it there are."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from vault_builders import begin, line_spans, open_vault, restored, seal, transcript

from fabula.kernel.errors import FabulaError
from fabula.record.vault.values import TAIL_WINDOW


def test_a_source_is_written_down_at_first_sight_and_known_again(tmp_path: Path) -> None:
    with open_vault(tmp_path / "vault") as vault:
        first = vault.source("host", "/a", "session", "s1", "parent")
        assert vault.source("host", "/a", "session", "other").id == first.id
        assert vault.source("another host", "/a", "session", "s1").id != first.id
        vault.commit()
    with open_vault(tmp_path / "vault") as vault:
        entry = vault.source("host", "/a", "session", "")
        assert (entry.id, entry.session, entry.parent, entry.first_seen) == (first.id, "s1", "parent", first.first_seen)
        assert entry.generations == ()
        assert vault.current(entry.id) is None


def test_seen_and_vanished_are_kept_and_the_first_vanishing_counts(tmp_path: Path) -> None:
    with open_vault(tmp_path / "vault") as vault:
        source = vault.source("host", "/a", "session", "s")
        vault.seen(source.id, 10)
        vault.commit()
        vault.vanished(source.id)
        vault.commit()
        gone = vault.sources()[0].vanished_at
        vault.vanished(source.id)
        vault.commit()
        assert gone is not None
        assert vault.sources()[0].vanished_at == gone
        assert vault.stats().vanished == 1
        vault.seen(source.id, 20, session="found later")
        vault.commit()
        entry = vault.sources()[0]
        assert (entry.size, entry.vanished_at, entry.session) == (20, None, "found later")
        assert entry.last_seen > entry.first_seen


def test_a_vanished_file_is_no_delete(tmp_path: Path) -> None:
    with open_vault(tmp_path / "vault") as vault:
        generation = seal(vault, "/a", b'{"a":1}\n')
        vault.vanished(generation.source_id)
        vault.commit()
        assert restored(vault, generation.id) == b'{"a":1}\n'


def test_generations_are_numbered_and_the_last_begun_is_current(tmp_path: Path) -> None:
    with open_vault(tmp_path / "vault") as vault:
        first = seal(vault, "/a", b'{"a":1}\n')
        second = seal(vault, "/a", b'{"b":2}\n')
        numbered = vault.begin(first.source_id, provenance="slimmed", immutable=True, number=7)
        assert vault.begin(first.source_id, provenance="slimmed", immutable=True, number=7) == numbered
        vault.commit()
        current = vault.current(first.source_id)
        assert current is not None
        assert (current.id, current.provenance, current.immutable) == (numbered.id, "slimmed", True)
    with open_vault(tmp_path / "vault", read_only=True) as vault:
        assert [g.number for g in vault.sources()[0].generations] == [0, 1, 7]
        assert restored(vault, first.id) == b'{"a":1}\n'
        assert restored(vault, second.id) == b'{"b":2}\n'
        assert vault.current(first.source_id) == vault.sources()[0].generations[-1]


def test_a_path_that_is_no_text_is_kept_exactly(tmp_path: Path) -> None:
    path = b"/odd/\xff\xfe".decode("utf-8", "surrogateescape")
    with open_vault(tmp_path / "vault") as vault:
        source = vault.source("host", path, "session", "odd\udcff")
        vault.commit()
    with open_vault(tmp_path / "vault") as vault:
        assert vault.source("host", path, "session", "").id == source.id
        assert vault.sources()[0].path == path
        assert list(vault.verify()) == []


@pytest.mark.parametrize("steps", [[10], [4096], [5000], [10, 10], [5000, 10], [10, 5000], [4000, 90, 20]])
@pytest.mark.parametrize("reopen", [True, False])
def test_the_tail_digest_is_that_of_the_last_bytes_sealed(tmp_path: Path, steps: list[int], reopen: bool) -> None:
    content = transcript(60)[: sum(steps)]
    position, source_id = 0, 0
    vault = open_vault(tmp_path / "vault")
    for step in steps:
        source_id = vault.source("host", "/a", "session", "s").id
        current = vault.current(source_id) or vault.begin(source_id, provenance="original", immutable=False)
        part = content[position : position + step]
        vault.append(current.id, position, part, [])
        position += step
        grown = vault.current(source_id)
        assert grown is not None
        assert grown.length == position
        assert grown.tail_digest == sha256(content[max(position - TAIL_WINDOW, 0) : position]).digest()
        vault.commit()
        if reopen:
            vault.close()
            vault = open_vault(tmp_path / "vault")
    vault.close()


def test_a_torn_last_line_is_kept_until_it_is_completed(tmp_path: Path) -> None:
    with open_vault(tmp_path / "vault") as vault:
        generation = begin(vault, "/a")
        vault.append(generation.id, 0, b'{"a":1}\n', [(0, 7)])
        vault.set_tail(generation.id, b'{"b":')
        vault.commit()
        assert restored(vault, generation.id) == b'{"a":1}\n{"b":'
        assert vault.read(generation.id, 5, 7) == b'1}\n{"b"'
        assert vault.sources()[0].generations[0].size == 13
    with open_vault(tmp_path / "vault") as vault:
        whole = b'{"a":1}\n{"b":2}\n{"c"'
        vault.append(generation.id, 8, whole[8:16], line_spans(whole[8:16], 8))
        vault.set_tail(generation.id, whole[16:])
        vault.commit()
        assert restored(vault, generation.id) == whole
        assert vault.digest(generation.id, 8, 7) == sha256(b'{"b":2}').digest()


def test_sealing_over_a_tail_takes_its_bytes_away(tmp_path: Path) -> None:
    with open_vault(tmp_path / "vault") as vault:
        generation = begin(vault, "/a")
        vault.set_tail(generation.id, b'{"a":1}')
        vault.commit()
        vault.append(generation.id, 0, b'{"a":1}\n', [(0, 7)])
        vault.commit()
        assert restored(vault, generation.id) == b'{"a":1}\n'


def test_bytes_that_are_sealed_are_skipped(tmp_path: Path) -> None:
    content = transcript(30)
    with open_vault(tmp_path / "vault") as vault:
        generation = seal(vault, "/a", content)
        before = vault.stats()
        vault.append(generation.id, 0, content, line_spans(content))
        vault.append(generation.id, 50, content[50:90], [])
        vault.commit()
        assert vault.stats() == before


def test_a_hole_between_appends_is_refused(tmp_path: Path) -> None:
    with open_vault(tmp_path / "vault") as vault:
        generation = begin(vault, "/a")
        with pytest.raises(ValueError, match="sealed up to 0"):
            vault.append(generation.id, 5, b"later", [])
        for span in ((3, 5), (-1, 2)):
            with pytest.raises(ValueError, match="outside the data"):
                vault.append(generation.id, 0, b"short", [span])
        vault.append(generation.id, 0, b"short", [(0, 5)])  # nothing of the refused calls remains
        vault.commit()
        assert restored(vault, generation.id) == b"short"


def test_unknown_ids_are_not_found(tmp_path: Path) -> None:
    with open_vault(tmp_path / "vault") as vault:
        for call in (
            lambda: vault.append(99, 0, b"x", []),
            lambda: vault.set_tail(99, b"x"),
            lambda: vault.seen(99, 1),
            lambda: vault.read(99, 0, 1),
            lambda: list(vault.stream(99)),
            lambda: vault.begin(99, provenance="original", immutable=False),
        ):
            with pytest.raises(FabulaError) as caught:
                call()
            assert caught.value.code == "ERR_NOT_FOUND"
        assert vault.digest(99, 0, 1) is None
