"""The doctor of the memory: each condition is seen, named with its remedy, and cleared by it."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabula.testing.outcome import Outcome

Fabula = Callable[..., Outcome]


@pytest.fixture
def corpus(fabula: Fabula, tmp_path: Path) -> Path:
    assert fabula("init").status == 0
    for text in ("The sea is salt.", "Ports begin at 4000.", "Deploys are on Fridays."):
        assert fabula("remember", text).status == 0
    return tmp_path / "fabula-home" / "memory"


def memory_checks(fabula: Fabula, *words: str) -> dict[str, dict[str, Any]]:
    found = fabula("doctor", "--json", *words).data["checks"]
    return {check["name"]: check for check in found if check["name"].startswith("memory")}


def not_good(fabula: Fabula) -> dict[str, dict[str, Any]]:
    return {name: check for name, check in memory_checks(fabula).items() if check["state"] != "good"}


def follow(fabula: Fabula, remedy: str) -> None:
    """Do what a remedy says, as a person would."""
    words = shlex.split(remedy.removeprefix("if no git runs here any more: "))
    if words[0] == "fabula":
        assert fabula(*words[1:]).status == 0, remedy
    else:
        subprocess.run(words, check=True, capture_output=True)


def git(folder: Path, *words: str) -> None:
    command = ["git", "-c", "user.name=m", "-c", "user.email=m@x", *words]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def one_of(corpus: Path) -> Path:
    return min((corpus / "areas" / "inbox").glob("*.html"))


# ── conditions ──────────────────────────────────────────────────────
def detach(corpus: Path) -> None:
    git(corpus, "checkout", "-q", "--detach")


def begin_a_merge(corpus: Path) -> None:
    git(corpus, "checkout", "-q", "-b", "side")
    (corpus / "x.txt").write_text("a")
    git(corpus, "add", "x.txt")
    git(corpus, "commit", "-q", "-m", "x")
    git(corpus, "checkout", "-q", "main")
    git(corpus, "commit", "-q", "--allow-empty", "-m", "y")
    git(corpus, "merge", "-q", "--no-commit", "--no-ff", "side")


def leave_a_lock(corpus: Path) -> None:
    (corpus / ".git" / "index.lock").write_text("")


def change_by_hand(corpus: Path) -> None:
    page = one_of(corpus)
    page.write_text(page.read_text().replace("Fridays", "Mondays").replace("salt", "salty").replace("4000", "5000"))


def lead_nowhere(corpus: Path) -> None:
    page = one_of(corpus)
    link = '<link rel="memhtml-relates-to" href="/areas/inbox/gone.html">\n</head>'
    page.write_text(page.read_text().replace("</head>", link))
    git(corpus, "commit", "-q", "-a", "-m", "by hand")


def say_it_twice(corpus: Path) -> None:
    page = one_of(corpus)
    page.with_name("twin.html").write_bytes(page.read_bytes())
    git(corpus, "add", "-A", "areas")
    git(corpus, "commit", "-q", "-m", "by hand")


def open_to_others(corpus: Path) -> None:
    corpus.chmod(0o777)


def lose_a_memory_that_was_read(corpus: Path) -> None:
    page = one_of(corpus)
    (corpus / ".fabula" / "log").mkdir(exist_ok=True)
    name = page.relative_to(corpus).as_posix()
    (corpus / ".fabula" / "log" / "extra.jsonl").write_text(f'{{"at":1,"id":"aaaa-1","kind":"read","path":"{name}"}}\n')
    page.unlink()
    git(corpus, "commit", "-q", "-a", "-m", "by hand")


@pytest.mark.parametrize(
    ("condition", "name"),
    [
        (detach, "memory git"),
        (begin_a_merge, "memory git"),
        (leave_a_lock, "memory git"),
        (change_by_hand, "memory files"),
        (lead_nowhere, "memory links"),
        (say_it_twice, "memory files"),
        (open_to_others, "memory folder"),
        (lose_a_memory_that_was_read, "memory state"),
    ],
)
def test_a_condition_of_the_memory_is_seen_and_cleared_by_its_remedy(
    fabula: Fabula, corpus: Path, condition: Callable[[Path], None], name: str
) -> None:
    assert not not_good(fabula)
    condition(corpus)
    seen = not_good(fabula)
    assert list(seen) == [name]
    for remedy in seen[name]["remedies"]:
        follow(fabula, remedy)
    assert not not_good(fabula)


def test_without_a_memory_nothing_is_wrong_and_nothing_is_made(fabula: Fabula, tmp_path: Path) -> None:
    (check,) = memory_checks(fabula).values()
    assert check["state"] == "good"
    assert not (tmp_path / "fabula-home").exists()


def test_a_broken_file_is_bad_named_with_its_line_and_keeps_nothing_else_out(fabula: Fabula, corpus: Path) -> None:
    (corpus / "areas" / "inbox" / "broken.html").write_text("<p>no memory")
    seen = not_good(fabula)
    assert seen["memory files"]["state"] == "bad"
    assert "areas/inbox/broken.html:1" in seen["memory files"]["message"]
    assert fabula("doctor").status == 1
    assert len(fabula("memory", "list", "--json").data["memories"]) == 3


def test_objects_that_are_gone_are_bad(fabula: Fabula, corpus: Path) -> None:
    blob = subprocess.check_output(["git", "rev-parse", f"HEAD:{one_of(corpus).relative_to(corpus)}"], cwd=corpus)
    name = blob.decode().strip()
    (corpus / ".git" / "objects" / name[:2] / name[2:]).unlink()
    assert not_good(fabula)["memory git"]["state"] == "bad"


def test_a_damaged_index_is_made_anew(fabula: Fabula, corpus: Path) -> None:
    fabula("doctor")
    file = corpus / ".fabula" / "index.db"
    data = bytearray(file.read_bytes())
    data[4096 * 2 : 4096 * 6] = os.urandom(4096 * 4)
    file.write_bytes(data)
    fabula("doctor", "--fix")
    assert not not_good(fabula)
    assert len(fabula("memory", "list", "--json").data["memories"]) == 3


def test_fix_repairs_relations_in_one_commit_and_leaves_articles_and_hashes_as_they_are(
    fabula: Fabula, corpus: Path
) -> None:
    lead_nowhere(corpus)
    page = one_of(corpus)
    article = page.read_text().partition("<article>")[2]
    before = int(subprocess.check_output(["git", "rev-list", "--count", "HEAD"], cwd=corpus))
    done = fabula("doctor", "--fix", "--json").data["fixed"]
    assert done == ["0 relations lead to their memories again, 1 led nowhere and are out"]
    assert int(subprocess.check_output(["git", "rev-list", "--count", "HEAD"], cwd=corpus)) == before + 1
    subject = subprocess.check_output(["git", "log", "-1", "--format=%s"], cwd=corpus, text=True)
    assert subject == "memhtml(link): repair 1 dangling link\n"
    assert page.read_text().partition("<article>")[2] == article
    assert fabula("doctor", "--fix", "--json").data["fixed"] == []


def test_a_relation_to_what_was_archived_is_followed_there_and_back(fabula: Fabula, corpus: Path) -> None:
    pages = sorted((corpus / "areas" / "inbox").glob("*.html"))
    one, two = (page.relative_to(corpus).as_posix() for page in pages[:2])
    assert fabula("memory", "link", one, "relates_to", two).status == 0
    archived = fabula("memory", "archive", two, "--reason", "old", "--json").data["archived"]
    assert not not_good(fabula), "nothing is wrong with a memory that is out of use"
    assert near(fabula, one) == {archived}
    assert near(fabula, archived) == {one}
    before = pages[0].read_bytes()
    assert fabula("doctor", "--fix", "--json").data["fixed"] == []
    assert pages[0].read_bytes() == before
    assert fabula("memory", "unarchive", archived).status == 0
    assert near(fabula, one) == {two}
    assert not not_good(fabula)


def test_a_relation_into_the_archive_leads_out_of_it_again_when_the_memory_comes_back(
    fabula: Fabula, corpus: Path
) -> None:
    pages = sorted((corpus / "areas" / "inbox").glob("*.html"))
    one, two = (page.relative_to(corpus).as_posix() for page in pages[:2])
    archived = fabula("memory", "archive", two, "--json").data["archived"]
    assert fabula("memory", "link", one, "relates_to", archived).status == 0
    assert fabula("memory", "unarchive", archived).status == 0
    assert near(fabula, one) == {two}
    assert near(fabula, two) == {one}
    fabula("doctor", "--fix")
    assert f'href="/{two}"' in pages[0].read_text()
    assert not not_good(fabula)


def near(fabula: Fabula, path: str) -> set[str]:
    """Return what is one relation away."""
    return {node["path"] for node in fabula("memory", "neighbors", path, "--depth", "1", "--json").data["nodes"]}


def test_fix_leaves_a_file_alone_that_a_person_is_changing(fabula: Fabula, corpus: Path) -> None:
    lead_nowhere(corpus)
    page = one_of(corpus)
    page.write_text(page.read_text().replace("</title>", " (draft)</title>"))
    before = page.read_bytes()
    assert fabula("doctor", "--fix", "--json").envelope["code"] == "ERR_DIRTY"
    assert page.read_bytes() == before


def test_another_memory_is_looked_at_by_its_folder(fabula: Fabula, corpus: Path, tmp_path: Path) -> None:
    fabula("init", "--memory", str(tmp_path / "second"))
    found = memory_checks(fabula, "--corpus", str(tmp_path / "second"))
    assert found["memory"]["message"] == str(tmp_path / "second")


def test_a_folder_that_is_no_memory_is_bad_and_its_remedy_makes_one(fabula: Fabula, tmp_path: Path) -> None:
    (tmp_path / "second").mkdir()
    check = memory_checks(fabula, "--corpus", str(tmp_path / "second"))["memory"]
    assert check["state"] == "bad"
    follow(fabula, check["remedies"][0])
    assert memory_checks(fabula, "--corpus", str(tmp_path / "second"))["memory"]["state"] == "good"
