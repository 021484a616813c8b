"""Another corpus of the format is taken into this one: bytes, paths, relations, and what it counted of readings."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.testing.outcome import Outcome

Fabula = Callable[..., Outcome]
Write = Callable[..., str]

PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<meta name="memhtml-type" content="{type}">
<meta name="memhtml-status" content="{status}">
<meta name="memhtml-created" content="2026-01-02T03:04:05Z">
<meta name="memhtml-updated" content="2026-01-02T03:04:05Z">
{links}</head>
<body>
<article>
<p><mark>{claim}</mark></p>
</article>
</body>
</html>
"""


@pytest.fixture
def corpus(fabula: Fabula, tmp_path: Path) -> Path:
    assert fabula("init").status == 0
    return tmp_path / "fabula-home" / "memory"


@pytest.fixture
def other(tmp_path: Path) -> Path:
    folder = tmp_path / "other"
    folder.mkdir()
    return folder


@pytest.fixture
def page(other: Path) -> Write:
    def write(path: str, claim: str, links: str = "", kind: str = "semantic", title: str = "") -> str:
        file = other / path
        file.parent.mkdir(parents=True, exist_ok=True)
        status = "archived" if path.startswith("archive/") else "active"
        text = PAGE.format(title=title or claim, type=kind, status=status, claim=claim, links=links)
        file.write_text(text)
        return text

    return write


def link(relation: str, path: str) -> str:
    return f'<link rel="memhtml-{relation}" href="/{path}">\n'


def commits(corpus: Path) -> int:
    return int(subprocess.check_output(["git", "rev-list", "--count", "HEAD"], cwd=corpus))


def test_files_come_at_their_paths_with_their_bytes_in_one_commit_and_only_once(
    fabula: Fabula, corpus: Path, other: Path, page: Write
) -> None:
    one = page("areas/inbox/one.html", "One is one.")
    old = page("archive/2026/areas/inbox/two.html", "Two was one.", link("relates-to", "areas/inbox/one.html"))
    before = commits(corpus)
    preview = fabula("import", "memhtml", str(other), "--dry-run", "--json").data
    assert commits(corpus) == before
    done = fabula("import", "memhtml", str(other), "--json").data
    assert done["taken"] == preview["taken"]
    assert (corpus / "areas/inbox/one.html").read_text() == one
    assert (corpus / "archive/2026/areas/inbox/two.html").read_text() == old
    assert commits(corpus) == before + 1
    again = fabula("import", "memhtml", str(other), "--json").data
    assert (again["taken"], again["commit"], len(again["known"])) == ([], None, 2)


def test_where_a_path_is_taken_the_memory_lies_beside_it_and_relations_follow(
    fabula: Fabula, corpus: Path, other: Path, page: Write
) -> None:
    made = fabula("memory", "write", "--type", "semantic", "--claim", "Mine.", "--title", "one", "--json").data["path"]
    page(made, "Theirs.")
    page("areas/inbox/points.html", "It points.", link("supports", made))
    taken = {one["key"]: one["path"] for one in fabula("import", "memhtml", str(other), "--json").data["taken"]}
    assert taken[made] == made.replace(".html", "-2.html")
    assert f'rel="memhtml-supports" href="/{taken[made]}"' in (corpus / "areas/inbox/points.html").read_text()
    assert "Mine." in (corpus / made).read_text()


def test_what_is_known_here_stays_and_what_led_to_it_leads_here(
    fabula: Fabula, corpus: Path, other: Path, page: Write
) -> None:
    mine = fabula("remember", "The sea is salt.", "--json").data["path"]
    page("areas/inbox/their-name.html", "The sea is salt.")
    page("areas/inbox/points.html", "It points.", link("caused-by", "areas/inbox/their-name.html"))
    done = fabula("import", "memhtml", str(other), "--json").data
    assert [(one["key"], one["path"]) for one in done["known"]] == [("areas/inbox/their-name.html", mine)]
    assert f'href="/{mine}"' in (corpus / "areas/inbox/points.html").read_text()


def test_a_relation_never_ends_at_a_memory_that_merely_has_the_path(
    fabula: Fabula, corpus: Path, other: Path, page: Write
) -> None:
    mine = fabula("remember", "Something of mine.", "--json").data["path"]
    page("areas/inbox/points.html", "It points nowhere.", link("relates-to", mine))
    fabula("import", "memhtml", str(other))
    assert mine not in (corpus / "areas/inbox/points.html").read_text()


def test_what_it_counted_of_readings_comes_along_once(fabula: Fabula, corpus: Path, other: Path, page: Write) -> None:
    page("areas/inbox/one.html", "One is one.")
    account = {
        "path": "areas/inbox/one.html", "accessCount": 9, "reinforcementCount": 2, "outcomeScore": 0.5,
        "lastAccessedAt": "2026-02-01T00:00:00.000Z", "lastReinforcedAt": None, "updatedAt": "2026-02-01T00:00:00.000Z",
    }  # fmt: skip
    (other / ".memhtml" / "state").mkdir(parents=True)
    (other / ".memhtml" / "state" / "access.jsonl").write_text(json.dumps(account) + "\n")
    fabula("import", "memhtml", str(other))
    row = json.loads((corpus / ".memhtml" / "state" / "access.jsonl").read_text())
    assert (row["path"], row["accessCount"], row["outcomeScore"]) == ("areas/inbox/one.html", 9, 0.5)
    before = commits(corpus)
    assert fabula("import", "memhtml", str(other), "--json").data["commit"] is None
    assert commits(corpus) == before


def test_bad_files_and_secrets_stay_out_with_their_reason(
    fabula: Fabula, corpus: Path, other: Path, page: Write
) -> None:
    page("areas/inbox/good.html", "Good.")
    page("areas/inbox/secret.html", f"AKIA{'QYLPMN5HHHFPZAM2'} is the key.")
    (other / "areas/inbox/bad.html").write_text("<p>nothing of the kind")
    (other / "areas/inbox/link.html").symlink_to(other / "areas/inbox/good.html")
    done = fabula("import", "memhtml", str(other), "--json").data
    assert [one["key"] for one in done["taken"]] == ["areas/inbox/good.html"]
    assert {one["key"] for one in done["skipped"]} == {"areas/inbox/bad.html", "areas/inbox/secret.html"}


def test_the_memory_itself_and_a_folder_without_memories_are_path_errors(
    fabula: Fabula, corpus: Path, other: Path
) -> None:
    assert fabula("import", "memhtml", str(corpus), "--json").envelope["code"] == "ERR_PATH"
    assert fabula("import", "memhtml", str(other), "--json").envelope["code"] == "ERR_PATH"


def test_a_corpus_that_fabula_made_is_taken_over_as_well(fabula: Fabula, corpus: Path, tmp_path: Path) -> None:
    fabula("init", "--memory", str(tmp_path / "second"))
    fabula("remember", "Kept elsewhere.", "--corpus", str(tmp_path / "second"))
    assert len(fabula("import", "memhtml", str(tmp_path / "second"), "--json").data["taken"]) == 1
    assert fabula("memory", "list", "--json").data["memories"][0]["claim"] == "Kept elsewhere."
