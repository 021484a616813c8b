"""What is remembered of a rewriting belongs to one generation for good."""

from __future__ import annotations

from pathlib import Path

from fabula.kernel.values import replace
from fabula.record.rewriting.links import Link, link_of, note_link
from fabula.record.vault.vault import Vault
from fabula.testing.record_home import FixedClock


def test_a_link_is_kept_and_says_nothing_of_a_later_generation_with_the_same_id(tmp_path: Path) -> None:
    with Vault.open(tmp_path / "vault", FixedClock()) as vault:
        source = vault.source("host", "/a.jsonl", "session", "s")
        generation = vault.begin(source.id, provenance="slimmed", immutable=False)
        vault.commit()
        assert link_of(vault.journal, generation) is None
        link = Link(generation.id, 7, 100, 50, "prune", 1, generation.begun_at)
        note_link(vault.journal, link)
        assert link_of(vault.journal, generation) == link
        assert link_of(vault.journal, replace(generation, begun_at=generation.begun_at + 1)) is None
        assert list(vault.verify()) == []
