"""What a caller says stood before an append: believed where its digest is the sealed one's, and never else."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from vault_builders import line_spans, open_vault, seal, transcript

from fabula.record.vault.reading import Reading

FIRST, MORE = transcript(60), transcript(2, seed=2, size=40)


@pytest.mark.parametrize("kept", [4096, 100], ids=["long", "short"])
@pytest.mark.parametrize("told", ["right", "wrong", "shorter", "nothing"])
def test_the_tail_digest_is_that_of_the_bytes_whatever_was_told(tmp_path: Path, kept: int, told: str) -> None:
    first = FIRST if kept == 4096 else FIRST[:100]
    before = {"right": first[-4096:], "wrong": b"x" * len(first[-4096:]), "shorter": first[-50:], "nothing": b""}[told]
    with open_vault(tmp_path) as vault:
        sealed = seal(vault, "a", first)
    with open_vault(tmp_path) as vault:
        vault.append(sealed.id, len(first), MORE, line_spans(MORE, len(first)), before=before)
        vault.commit()
        current = vault.current(sealed.source_id)
        assert current is not None
        assert current.tail_digest == sha256((first + MORE)[-4096:]).digest()
        assert b"".join(vault.stream(sealed.id)) == first + MORE


def test_who_tells_it_right_spares_the_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_vault(tmp_path) as vault:
        sealed = seal(vault, "a", FIRST)
    monkeypatch.setattr(Reading, "read", lambda *_: pytest.fail("the vault was read"))
    with open_vault(tmp_path) as vault:
        vault.append(sealed.id, len(FIRST), MORE, line_spans(MORE, len(FIRST)), before=FIRST[-4096:])
        vault.commit()


def test_what_lies_before_an_append_that_repeats_sealed_bytes_is_not_what_was_sealed_last(tmp_path: Path) -> None:
    with open_vault(tmp_path) as vault:
        sealed = seal(vault, "a", FIRST)
    half = len(FIRST) // 2
    again = FIRST[half:] + MORE
    with open_vault(tmp_path) as vault:
        vault.append(sealed.id, half, again, line_spans(again, half), before=FIRST[half - 4096 : half])
        vault.commit()
        assert b"".join(vault.stream(sealed.id)) == FIRST + MORE
