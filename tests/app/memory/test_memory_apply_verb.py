"""``fabula memory apply``: many facts in one commit, each told in its place, or nothing at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabula.testing.outcome import Outcome
from fabula.testing.terminal import on_terminal

Fabula = Callable[..., Outcome]
Typed = Callable[[str], None]


def line(body: str, **fields: Any) -> dict[str, Any]:
    return {"op": "write", "title": "Pool", "type": "semantic", "body": body, **fields}


def applied(fabula: Fabula, typed: Typed, operations: list[dict[str, Any]], *words: str) -> Outcome:
    typed("\n".join(json.dumps(one) for one in operations))
    return fabula("memory", "apply", *words, "--json")


def git(root: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True, text=True).stdout


def test_three_lines_are_one_commit_in_their_order(fabula: Fabula, corpus: Path, typed: Typed) -> None:
    operations = [line(f"The limit {n} is {n}. And more.", session_id="own" if n == 2 else None) for n in range(3)]
    before = git(corpus, "rev-parse", "HEAD").strip()
    done = applied(fabula, typed, operations, "--session", "call").data
    assert [one["index"] for one in done["results"]] == [0, 1, 2]
    assert [one["path"] for one in done["results"]] == [
        "areas/inbox/pool.html", "areas/inbox/pool-2.html", "areas/inbox/pool-3.html"
    ]  # fmt: skip
    assert git(corpus, "rev-list", "--count", f"{before}..HEAD").strip() == "1"
    assert git(corpus, "log", "-1", "--format=%s").strip() == "memhtml(batch): 3 memories"
    assert 'content="own"' in (corpus / "areas/inbox/pool-3.html").read_text()
    assert 'content="call"' in (corpus / "areas/inbox/pool.html").read_text()
    assert done["summary"] == {"total": 3, "written": 3, "deduped": 0, "failed": 0, "skipped": 0, "consolidated": 0}


def test_a_batch_from_a_file_leaves_standard_input_alone(
    fabula: Fabula, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    (tmp_path / "work" / "facts.jsonl").write_text(json.dumps(line("It is 64.")) + "\n")
    assert fabula("memory", "apply", "facts.jsonl", "--json").data["summary"]["written"] == 1
    assert fabula("memory", "apply", "none.jsonl", "--json").envelope["code"] == "ERR_PATH"
    assert fabula("memory", "apply", "--json").envelope["code"] == "ERR_USAGE"


def test_one_that_fails_stops_all_and_the_exit_status_says_so(fabula: Fabula, corpus: Path, typed: Typed) -> None:
    operations = [line("It is 64."), {"op": "write", "title": "B", "type": "semantic", "article_html": "<p>no</p>"}]
    before = git(corpus, "rev-parse", "HEAD")
    aborted = applied(fabula, typed, operations)
    assert aborted.status == 1
    assert aborted.data["aborted"]
    assert [(one["ok"], one["skipped"], one["code"]) for one in aborted.data["results"]] == [
        (False, True, None),
        (False, False, "ERR_MEMORY_FORMAT"),
    ]
    assert aborted.data["commit"] is None
    assert git(corpus, "rev-parse", "HEAD") == before
    assert not git(corpus, "status", "--short")
    went_on = applied(fabula, typed, operations, "--continue-on-error")
    assert went_on.status == 1
    assert [one["ok"] for one in went_on.data["results"]] == [True, False]
    assert went_on.data["commit"]


def test_of_a_long_batch_only_what_is_worth_telling_is_shown(fabula: Fabula, corpus: Path, typed: Typed) -> None:
    operations = [line(f"The limit number {n} is set.") for n in range(60)]
    operations[30] = {"op": "write", "title": "n", "type": "semantic"}
    typed("\n".join(json.dumps(one) for one in operations))
    shown = fabula("memory", "apply", "--continue-on-error").out
    assert "59 written" in shown
    assert "30  failed" in shown
    assert len(shown.splitlines()) == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"op":"write","title":"a","type":"semantic","body":"x"}\n{"op":', "line 2"),
        ('\n\n{"op":"delete","title":"a","type":"semantic","body":"x"}', "line 3"),
        ('{"op":"write","title":"a","type":"semantic","body":"x","colour":"red"}', "colour"),
        ('{"op":"write","type":"semantic","body":"x"}', "title"),
        ('["write"]', "line 1"),
        ("null", "line 1"),
        ("", "no operations"),
        ("\n \n", "no operations"),
    ],
)
def test_what_is_no_batch_is_a_wrong_call_that_names_its_line(
    fabula: Fabula, corpus: Path, typed: Typed, text: str, said: str
) -> None:
    typed(text)
    outcome = fabula("memory", "apply", "-", "--json")
    assert outcome.status == 2
    assert said in outcome.envelope["error"]
    assert not git(corpus, "status", "--short")


def test_a_line_with_words_and_markup_is_refused_as_one_with_neither(
    fabula: Fabula, corpus: Path, typed: Typed
) -> None:
    both = line("It is 64.", article_html="<p><mark>It is 65.</mark></p>")
    neither = {"op": "write", "title": "n", "type": "semantic"}
    results = applied(fabula, typed, [both, neither, line("It is 66.")], "--continue-on-error").data["results"]
    assert [one["code"] for one in results] == ["ERR_USAGE", "ERR_USAGE", None]


def test_conflicts_and_near_duplicates_are_named_and_change_nothing(fabula: Fabula, corpus: Path, typed: Typed) -> None:
    stored = applied(fabula, typed, [line("The pool ceiling is 64.")]).data["results"][0]["path"]
    operations = [line("The pool ceiling is 128."), line("The retry limit is 3."), line("The retry limit is 5.")]
    results = applied(fabula, typed, operations, "--detect-conflicts", "--detect-near-duplicates").data["results"]
    assert all(one["ok"] for one in results)
    assert results[0]["conflict"] == {"path": stored, "batch_index": None, "claim": "The pool ceiling is 64."}
    assert results[1]["conflict"] is None
    assert results[2]["conflict"] == {"path": None, "batch_index": 1, "claim": "The retry limit is 3."}
    assert [near["batch_index"] for near in results[2]["near_duplicates"]] == [1]
    plain = applied(fabula, typed, [line("The pool ceiling is 256.")]).data
    assert plain["results"][0]["conflict"] is None
    assert plain["near_duplicates_checked"] is None


def test_without_vectors_near_duplicates_are_said_to_be_unchecked(
    fabula: Fabula, corpus: Path, typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABULA_EMBEDDING", "off")
    done = applied(fabula, typed, [line("It is 64.")], "--detect-near-duplicates").data
    assert done["near_duplicates_checked"] is False
    assert done["summary"]["written"] == 1


def test_the_last_of_one_slot_wins_and_takes_the_place_of_what_is_stored(
    fabula: Fabula, corpus: Path, typed: Typed
) -> None:
    stored = applied(fabula, typed, [line("The pool ceiling is 64.")]).data["results"][0]["path"]
    operations = [line("The pool ceiling is 128."), line("The pool ceiling is 256.")]
    done = applied(fabula, typed, operations, "--consolidate", "last-wins").data
    assert done["results"][1]["consolidated_into"] == 0
    assert done["results"][0]["superseded"].endswith(stored)
    live = fabula("memory", "list", "--json").data["memories"]
    assert [one["claim"] for one in live] == ["The pool ceiling is 256."]


def test_a_person_may_let_a_secret_in_and_no_pipe_may(fabula: Fabula, corpus: Path) -> None:
    key = "sk-" + "ant-api03-" + "a1B2c3D4e5" * 9 + "xyz" + "AA"
    words = [sys.executable, "-m", "fabula", "memory", "write", "--type", "semantic", "--allow-secret"]
    words += ["--claim", f"The key is {key} for now."]
    piped = subprocess.run(
        words, check=False, capture_output=True, text=True, env=dict(os.environ), start_new_session=True
    )
    assert piped.returncode == 3
    assert not fabula("memory", "list", "--json").data["memories"]
    shown = on_terminal(words, dict(os.environ), "secret")
    assert shown.status == 0, shown
    assert fabula("memory", "list", "--json").data["total"] == 1


def test_writers_at_once_each_have_a_commit_of_their_own_file_alone(fabula: Fabula, corpus: Path) -> None:
    start = [sys.executable, "-m", "fabula", "memory", "write", "--type", "semantic", "--json", "--claim"]
    running = [
        subprocess.Popen([*start, f"Writer {n} was here."], stdout=subprocess.PIPE, env=dict(os.environ))
        for n in range(8)
    ]
    done = [json.loads(one.communicate()[0])["data"] for one in running]
    for one in done:
        assert git(corpus, "show", "--name-only", "--format=", one["commit"]).split() == [one["path"]]
    assert len({one["commit"] for one in done}) == 8
    assert fabula("memory", "list", "--json").data["total"] == 8
    assert not git(corpus, "status", "--short")
