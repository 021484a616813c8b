"""``memory export``: all memories in another place, the same bytes each time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.testing.outcome import Outcome

Fabula = Callable[..., Outcome]


@pytest.fixture
def corpus(fabula: Fabula, tmp_path: Path) -> Path:
    assert fabula("init").status == 0
    fabula("remember", "The sea is salt. It was: always.", "--tag", "sea", "--title", 'Salt: a "fact"')
    made = fabula("remember", "Ports begin at 4000.", "--json").data["path"]
    fabula("memory", "correct", made, "--claim", "Ports begin at 5000.", "--reason", "moved")
    return tmp_path / "fabula-home" / "memory"


def below(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("form", ["html", "markdown", "jsonl"])
def test_the_same_memories_give_the_same_bytes(fabula: Fabula, corpus: Path, tmp_path: Path, form: str) -> None:
    for name in ("one", "two"):
        assert fabula("memory", "export", str(tmp_path / name), "--format", form).status == 0
    assert below(tmp_path / "one") == below(tmp_path / "two") != {}


def test_pages_are_the_files_themselves_and_come_back_as_they_were(
    fabula: Fabula, corpus: Path, tmp_path: Path
) -> None:
    assert fabula("memory", "export", str(tmp_path / "out"), "--include-archived", "--json").data["memories"] == 3
    pages = below(tmp_path / "out")
    assert all((corpus / path).read_bytes() == data for path, data in pages.items())
    fabula("init", "--memory", str(tmp_path / "second"))
    fabula("import", "memhtml", str(tmp_path / "out"), "--corpus", str(tmp_path / "second"))
    assert all((tmp_path / "second" / path).read_bytes() == data for path, data in pages.items())


def test_without_the_archive_only_what_holds_is_written(fabula: Fabula, corpus: Path, tmp_path: Path) -> None:
    fabula("memory", "export", str(tmp_path / "out"))
    assert not (tmp_path / "out" / "archive").exists()


def test_lines_hold_everything_and_are_sorted_by_path(fabula: Fabula, corpus: Path, tmp_path: Path) -> None:
    fabula("memory", "export", str(tmp_path / "out"), "--format", "jsonl")
    rows = [json.loads(line) for line in (tmp_path / "out" / "memories.jsonl").read_text().splitlines()]
    assert [row["path"] for row in rows] == sorted(row["path"] for row in rows)
    assert {row["claim"] for row in rows} == {"The sea is salt.", "Ports begin at 5000."}
    assert all((corpus / row["path"]).read_text() == row["html"] for row in rows)


def test_notes_come_back_as_the_same_claims(fabula: Fabula, corpus: Path, tmp_path: Path) -> None:
    fabula("memory", "export", str(tmp_path / "out"), "--format", "markdown")
    fabula("init", "--memory", str(tmp_path / "second"))
    fabula("import", "markdown", str(tmp_path / "out"), "--corpus", str(tmp_path / "second"))
    found = fabula("memory", "list", "--corpus", str(tmp_path / "second"), "--json").data["memories"]
    assert {(one["title"], one["claim"]) for one in found} == {
        ('Salt: a "fact"', "The sea is salt."),
        ("Ports begin at 5000", "Ports begin at 5000."),
    }


def test_a_folder_with_anything_in_it_is_refused_and_left_alone(fabula: Fabula, corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("x")
    assert fabula("memory", "export", str(tmp_path / "out"), "--json").envelope["code"] == "ERR_PATH"
    assert below(tmp_path / "out") == {"mine.txt": b"x"}


def test_a_file_that_is_no_memory_now_is_named(fabula: Fabula, corpus: Path, tmp_path: Path) -> None:
    (corpus / "areas" / "inbox" / "broken.html").write_text("<p>no memory")
    result = fabula("memory", "export", str(tmp_path / "out"), "--json").data
    assert result["left_out"] == ["areas/inbox/broken.html"]
