"""Several processes and a person with git write to one repository at once; ``git_crowd.py`` alone tries many more."""

from __future__ import annotations

from pathlib import Path

from git_crowd import crowd


def test_no_writer_loses_a_body_while_a_person_commits_too(tmp_path: Path) -> None:
    crowd(tmp_path, writers=4, commits=6)
