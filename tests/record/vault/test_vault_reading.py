"""Reading ranges, and batches that failed."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from vault_builders import begin, line_spans, open_vault, restored, seal, transcript

from fabula.kernel.errors import FabulaError
from fabula.storage import packs


@pytest.mark.usefixtures("small_packs")
def test_any_range_reads_as_the_file_does(tmp_path: Path) -> None:
    content = transcript(80)
    with open_vault(tmp_path / "vault") as vault:
        generation = begin(vault, "/a")
        middle = content.index(b"\n", len(content) // 2) + 1
        vault.append(generation.id, 0, content[:middle], line_spans(content[:middle]))
        vault.append(generation.id, middle, content[middle:], line_spans(content[middle:], middle))
        vault.set_tail(generation.id, b"tail")
        vault.commit()
        whole = content + b"tail"
        for start in range(0, len(whole), 997):
            for length in (0, 1, 300, len(whole) - start):
                assert vault.read(generation.id, start, length) == whole[start : start + length]
            assert b"".join(vault.stream(generation.id, start)) == whole[start:]
        for start, length in ((-1, 5), (0, -1), (len(whole), 1), (0, len(whole) + 1)):
            with pytest.raises(FabulaError) as caught:
                vault.read(generation.id, start, length)
            assert caught.value.code == "ERR_NOT_FOUND"


def test_a_digest_is_given_for_exactly_a_record_and_for_nothing_else(tmp_path: Path) -> None:
    with open_vault(tmp_path / "vault") as vault:
        generation = seal(vault, "/a", b'{"a":1}\n{"b":2}\n')
        assert vault.digest(generation.id, 8, 7) is not None
        for start, length in ((8, 6), (9, 6), (7, 1), (0, 8), (16, 1), (-1, 7), (0, 0)):
            assert vault.digest(generation.id, start, length) is None


def test_a_batch_of_which_a_part_failed_is_never_committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = transcript(2000)

    def refuse(handle: int, data: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with open_vault(tmp_path / "vault") as vault:
        kept = seal(vault, "/a", b'{"a":1}\n')
        generation = begin(vault, "/b")
        monkeypatch.setattr(packs.os, "write", refuse)
        with pytest.raises(FabulaError) as caught:
            vault.append(generation.id, 0, content, line_spans(content))
        assert caught.value.code == "ERR_DISK"
        monkeypatch.undo()
        for call in (vault.commit, lambda: vault.append(generation.id, 0, b"x", [])):
            with pytest.raises(FabulaError, match="before this one failed"):
                call()
    with open_vault(tmp_path / "vault") as vault:
        assert [source.path for source in vault.sources()] == ["/a"]
        assert restored(vault, kept.id) == b'{"a":1}\n'
        again = seal(vault, "/b", content)
        assert restored(vault, again.id) == content
        assert list(vault.verify()) == []
