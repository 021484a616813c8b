"""The way to a corpus: nothing is opened before it is needed, nothing is made by looking, and it can be closed."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.app.wiring import App
from fabula.cli.parse import Surroundings, parse
from fabula.kernel.clock import SystemClock
from fabula.kernel.errors import FabulaError
from fabula.models.embedding import Unavailable
from fabula.testing.outcome import Outcome

Fabula = Callable[..., Outcome]


def app(tmp_path: Path, **environment: str) -> App:
    given = {"FABULA_HOME": str(tmp_path / "fabula-home"), "HOME": str(tmp_path), **environment}
    return App(environment=given, cwd=tmp_path, user_home=tmp_path, clock=SystemClock())


def test_the_configured_corpus_is_one_object_and_making_it_opens_nothing(tmp_path: Path) -> None:
    one = app(tmp_path)
    assert one.memory is one.memory_at(None)
    assert one.memory.root == tmp_path / "fabula-home" / "memory"
    assert one.memory_at(tmp_path / "other").root == tmp_path / "other"
    assert not list(tmp_path.iterdir())
    for part in (one.memory.corpus, one.memory.repo, one.memory.index, one.memory.state, one.memory.refreshed):
        with pytest.raises(FabulaError) as caught:
            part()
        assert caught.value.code == "ERR_NO_CORPUS"
    assert not list(tmp_path.iterdir())
    one.close()


def test_what_is_closed_opens_again(corpus: Path, tmp_path: Path) -> None:
    access = app(tmp_path).memory
    assert access.refreshed().status().files == 0
    access.close()
    assert access.refreshed().status().files == 0
    assert access.store().repo is access.repo()
    access.close()


def test_what_is_made_in_a_corpus_is_hidden_from_git(corpus: Path, tmp_path: Path) -> None:
    (corpus / ".git/info/exclude").write_text("")
    (corpus / ".gitignore").unlink()
    access = app(tmp_path).memory
    access.refreshed()
    access.state().read(["areas/inbox/x.html"])
    access.close()
    seen = subprocess.run(["git", "-C", corpus, "status", "--short"], check=True, capture_output=True, text=True)
    assert seen.stdout == " D .gitignore\n"


def test_an_embedder_without_what_it_needs_is_no_error(tmp_path: Path) -> None:
    assert isinstance(app(tmp_path, FABULA_EMBEDDING="off").memory.embedder, Unavailable)
    assert isinstance(app(tmp_path, FABULA_EMBEDDING="openai").memory.embedder, Unavailable)
    assert not isinstance(app(tmp_path).memory.embedder, Unavailable)


def test_the_workspace_of_a_repository_is_its_name_and_outside_of_one_there_is_none(tmp_path: Path) -> None:
    assert app(tmp_path).memory.home_workspace() is None
    repository = tmp_path / "My Project.git"
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    inside = App(environment={"HOME": str(tmp_path)}, cwd=repository, user_home=tmp_path, clock=SystemClock())
    assert inside.memory.home_workspace() == "my-project"
    assert inside.memory_at(repository).home_workspace() is None


FAILING = (
    ("list", "--status", "todo"),
    ("write", "--type", "semantic"),
    ("write", "--type", "epesodic", "--claim", "x"),
    ("write", "--type", "semantic", "--claim", "x", "--path", "areas/inbox/there.html"),
    ("write", "--type", "semantic", "--claim", "x", "--quote", "y"),
    ("read", "it is; rm -rf ~"),
    ("read", "areas/inbox/none.html"),
    ("read", "areas/inbox/gone.html"),
    ("read", "../x.html"),
    ("correct", "none", "--claim", "x"),
    ("archive", "archive/2026/areas/inbox/none.html"),
    ("link", "there", "caused_by", "there"),
    ("link", "there", "causedby", "there"),
    ("unarchive", "there"),
    ("task", "status", "there", "done"),
    ("at", "2001-01-01"),
    ("at", "HEAD", "areas/inbox/none.html"),
    ("history", "areas/inbox/none.html"),
    ("apply", "none.jsonl"),
    ("search", "x", "--entity", "y"),
    ("reinforce", "none"),
    ("list", "--corpus", "/nowhere at all"),
)


@pytest.mark.parametrize("words", FAILING, ids=" ".join)
def test_every_command_that_an_error_names_is_one(
    fabula: Fabula, corpus: Path, tmp_path: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    for name in ("there", "gone"):
        path = f"areas/inbox/{name}.html"
        fabula("memory", "write", "--type", "semantic", "--claim", f"It is {name}.", "--path", path)
    fabula("memory", "archive", "gone")
    envelope = fabula("memory", *words, "--json").envelope
    assert envelope["suggestions"]
    for suggestion in envelope["suggestions"]:
        if suggestion.startswith("fabula "):
            parse(shlex.split(suggestion)[1:], Surroundings(tmp_path, 0))
