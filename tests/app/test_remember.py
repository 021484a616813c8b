"""``fabula remember``: one sentence in, one memory out, once."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.testing.outcome import Outcome

Fabula = Callable[..., Outcome]


@pytest.fixture
def corpus(fabula: Fabula, tmp_path: Path) -> Path:
    assert fabula("init").status == 0
    return tmp_path / "fabula-home" / "memory"


def test_the_first_sentence_is_the_claim_and_the_rest_stands_behind_it(fabula: Fabula, corpus: Path) -> None:
    made = fabula("remember", "Tests need REDIS_URL set.", "Without it they hang.", "--json").data
    assert made["claim"] == "Tests need REDIS_URL set."
    assert made["title"] == "Tests need REDIS_URL set"
    text = (corpus / made["path"]).read_text()
    assert "<mark>Tests need REDIS_URL set.</mark> Without it they hang." in text


def test_what_is_known_is_told_and_not_written_again(fabula: Fabula, corpus: Path) -> None:
    first = fabula("remember", "Logs are in UTC.", "--json").data
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=corpus)
    again = fabula("remember", "Logs  are in UTC.", "--json").data
    assert (again["path"], again["known"], again["commit"]) == (first["path"], True, None)
    assert subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=corpus) == head
    assert fabula("remember", "Logs are in UTC.").out.startswith("known already: ")


def test_the_workspace_is_the_repository_that_one_stands_in(
    fabula: Fabula, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fabula("remember", "Nowhere in particular.", "--json").data["workspace"] is None
    harbor = tmp_path / "Harbor App"
    (harbor / "src").mkdir(parents=True)
    subprocess.run(["git", "init", "-q"], cwd=harbor, check=True)
    monkeypatch.chdir(harbor / "src")
    made = fabula("remember", "Deploys are on Fridays.", "--json").data
    assert (made["workspace"], made["path"].rpartition("/")[0]) == ("harbor-app", "projects/harbor-app")
    assert fabula("remember", "Tabs, not spaces.", "--everywhere", "--json").data["workspace"] is None


def test_without_a_memory_the_way_to_one_is_named_and_nothing_is_made(fabula: Fabula, tmp_path: Path) -> None:
    refused = fabula("remember", "Something.", "--json").envelope
    assert refused["code"] == "ERR_NO_CORPUS"
    assert not (tmp_path / "fabula-home" / "memory").exists()
    command = refused["suggestions"][0].split()
    assert fabula(*command[1:]).status == 0
    assert fabula("remember", "Something.").status == 0


def test_a_secret_is_refused(fabula: Fabula, corpus: Path) -> None:
    secret = "AKIA" + "QYLPMN5HHHFPZAM2"
    assert fabula("remember", f"The key is {secret}.", "--json").envelope["code"] == "ERR_SECRET"
    assert not any(secret in path.read_text() for path in corpus.rglob("*.html"))


def test_nothing_to_remember_is_a_wrong_call(fabula: Fabula, corpus: Path) -> None:
    assert fabula("remember", " ", "--json").envelope["code"] == "ERR_USAGE"
