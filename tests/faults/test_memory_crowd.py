"""Several processes write memories while a person commits with git; ``memory_crowd.py`` alone tries eight hundred."""

from __future__ import annotations

from pathlib import Path

from memory_crowd import crowd


def test_no_memory_is_lost_while_many_write_and_a_person_commits_too(tmp_path: Path) -> None:
    assert crowd(tmp_path, writers=4, writes=6) > 0
