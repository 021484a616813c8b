"""``fabula memory read``, ``search``, ``list``, ``at``, ``tasks``: what is there is shown, what is not is an error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.testing.outcome import Outcome

Fabula = Callable[..., Outcome]
Typed = Callable[[str], None]


def write(fabula: Fabula, claim: str, *more: str) -> str:
    outcome = fabula("memory", "write", "--type", "semantic", "--claim", claim, *more, "--json")
    assert outcome.status == 0, outcome.out
    return str(outcome.data["path"])


def test_the_file_itself_is_printed_as_it_is(fabula: Fabula, corpus: Path) -> None:
    path = write(fabula, "It is 64.")
    assert fabula("memory", "read", path, "--html").out == (corpus / path).read_text("utf-8")
    text = fabula("memory", "read", f"/{path}").out
    assert "It is 64." in text


def test_a_name_that_one_memory_has_is_enough_and_one_that_two_have_names_both(fabula: Fabula, corpus: Path) -> None:
    one = write(fabula, "It is 64.", "--title", "Pool", "--workspace", "a")
    assert fabula("memory", "read", "pool", "--json").data["path"] == one
    assert fabula("memory", "read", "POOL", "--json").data["path"] == one
    other = write(fabula, "It is 65.", "--title", "Pool", "--workspace", "b")
    both = fabula("memory", "read", "pool", "--json")
    assert both.envelope["code"] == "ERR_AMBIGUOUS"
    assert {command.rpartition(" ")[2] for command in both.envelope["suggestions"]} == {one, other}


@pytest.mark.parametrize(
    "name", ["../outside.html", "areas/../../outside.html", "/../outside.html", "areas/inbox/l.html"]
)
def test_nothing_outside_of_the_memory_is_read(fabula: Fabula, corpus: Path, name: str) -> None:
    inside = write(fabula, "It is 64.")
    outside = corpus.parent / "outside.html"
    outside.write_bytes((corpus / inside).read_bytes())
    (corpus / "areas/inbox/l.html").symlink_to(outside)
    outcome = fabula("memory", "read", name, "--json")
    assert outcome.status != 0
    assert outcome.envelope["code"] in {"ERR_PATH", "ERR_NO_MEMORY"}
    assert "It is 64." not in outcome.out


@pytest.mark.parametrize("words", [("list",), ("search", "x"), ("status",), ("tasks",), ("read", "areas/x.html")])
def test_a_memory_that_is_not_there_is_an_error_and_stays_away(
    fabula: Fabula, tmp_path: Path, words: tuple[str, ...]
) -> None:
    missing = tmp_path / "nowhere"
    outcome = fabula("memory", *words, "--corpus", str(missing), "--json")
    assert outcome.envelope["code"] == "ERR_NO_CORPUS"
    assert outcome.envelope["suggestions"][0].startswith("fabula init --memory")
    assert not missing.exists()


def test_a_question_without_a_word_says_that_it_lists_the_newest(fabula: Fabula, corpus: Path) -> None:
    write(fabula, "It is 64.")
    for question in ('"', "\N{UNICORN FACE}", "?!"):
        assert fabula("memory", "search", question).out.startswith("no word to look for in this: the newest memories\n")
    for question in ((), ("64",)):
        assert "no word" not in fabula("memory", "search", *question).out


def test_pages_follow_one_another(fabula: Fabula, corpus: Path) -> None:
    paths = sorted(write(fabula, f"Fact {number} holds.") for number in range(5))
    seen: list[str] = []
    cursor: tuple[str, ...] = ()
    while True:
        page = fabula("memory", "list", "--limit", "2", *cursor, "--json").data
        assert page["total"] == 5
        seen += [one["path"] for one in page["memories"]]
        if page["next_cursor"] is None:
            break
        cursor = ("--cursor", page["next_cursor"])
    assert seen == paths


@pytest.mark.parametrize("words", [("--limit", "0"), ("--limit", "501"), ("--limit", "x"), ("--status", "todo")])
def test_bad_numbers_and_flags_of_other_commands_are_refused(
    fabula: Fabula, corpus: Path, words: tuple[str, ...]
) -> None:
    assert fabula("memory", "list", *words, "--json").envelope["code"] == "ERR_USAGE"


@pytest.mark.parametrize(
    "query", ["don't revert", "service:checkout-api rollback", "-zebra", '"unclosed', "*", "NOT AND"]
)
def test_no_query_is_a_syntax_error(fabula: Fabula, corpus: Path, query: str) -> None:
    write(fabula, "It is 64.")
    assert fabula("memory", "search", query, "--json").status == 0


def test_the_scope_is_this_repository_and_what_belongs_to_none(fabula: Fabula, corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    mine = write(fabula, "The gate opens at six.", "--workspace", "work")
    free = write(fabula, "The gate opens at seven.")
    other = write(fabula, "The gate opens at eight.", "--workspace", "elsewhere")
    search = ("memory", "search", "gate", "opens", "--json")
    assert {hit["path"] for hit in fabula(*search).data["hits"]} == {mine, free}
    assert {hit["path"] for hit in fabula(*search, "--all").data["hits"]} == {mine, free, other}
    assert {hit["path"] for hit in fabula(*search, "--workspace", "elsewhere").data["hits"]} == {other}
    empty = fabula(*search, "--entity", "gate:none").data
    assert (empty["hits"], empty["scope_empty"]) == ([], True)
    assert fabula(*search, "--entity", "none").envelope["code"] == "ERR_USAGE"


def test_vectors_that_are_off_are_named_and_words_still_find(
    fabula: Fabula, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABULA_EMBEDDING", "off")
    path = write(fabula, "The gate opens at six.")
    found = fabula("memory", "search", "gate", "--explain", "--json").data
    assert [hit["path"] for hit in found["hits"]] == [path]
    assert found["degraded"]
    assert "vector" not in found["arms"]
    assert fabula("memory", "search", "gate", "--explain").status == 0


def test_the_past_is_read_by_day_and_by_commit(fabula: Fabula, corpus: Path) -> None:
    path = write(fabula, "It is 64.")
    first = subprocess.run(
        ["git", "-C", str(corpus), "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()
    assert fabula("memory", "correct", path, "--claim", "It is 128.").status == 0
    then = fabula("memory", "at", first, path, "--json").data
    assert "It is 64." in then["text"]
    assert fabula("memory", "at", first, "--json").data["total"] == 1
    assert fabula("memory", "at", "2001-01-01", "--json").envelope["code"] == "ERR_NOT_FOUND"
    assert fabula("memory", "at", first, "areas/inbox/none.html", "--json").envelope["code"] == "ERR_NO_MEMORY"


def test_what_was_held_true_at_a_time_is_found_with_what_took_its_place(fabula: Fabula, corpus: Path) -> None:
    old = write(fabula, "The pool ceiling is 64.", "--valid-from", "2026-01-01")
    correct = ("memory", "correct", old, "--claim", "The pool ceiling is 128.", "--valid-from", "2026-03-01", "--json")
    done = fabula(*correct).data
    search = ("memory", "search", "pool", "ceiling", "--json")
    then = fabula(*search, "--as-of", "2026-02-01").data["hits"]
    assert [(hit["path"], hit["superseded_by"]) for hit in then] == [(done["archived"], done["path"])]
    for later in ((), ("--as-of", "2026-04-01")):
        hits = fabula(*search, *later).data["hits"]
        assert [(hit["path"], hit["superseded_by"]) for hit in hits] == [(done["path"], None)]
    both = fabula(*search, "--include-archived").data["hits"]
    assert [hit["path"] for hit in both] == [done["path"], done["archived"]]


def test_tasks_that_sleep_found_are_told_by_their_names(fabula: Fabula, corpus: Path) -> None:
    add = ("memory", "write", "--type", "task", "--claim")
    found = "areas/inbox/tasks/det-0123456789ab-look.html"
    assert fabula(*add, "Look into it.", "--path", found).status == 0
    assert fabula(*add, "Look away.", "--path", "areas/inbox/tasks/det-xyz-look.html").status == 0
    listed = fabula("memory", "tasks", "--detected", "--status", "todo", "--json").data["tasks"]
    assert [one["path"] for one in listed] == [found]


def test_the_status_says_what_there_is(fabula: Fabula, corpus: Path) -> None:
    path = write(fabula, "It is 64.", "--workspace", "w", "--session", "s")
    fabula("memory", "search", "64", "--all")
    status = fabula("memory", "status", "--json").data
    assert len(status["head"]) == 40
    assert (status["index"]["files"], status["uncommitted"], status["vectors"], status["degraded"]) == (1, 0, 1, "")
    assert status["index"]["by_workspace"] == {"w": 1}
    assert status["state"]["links"] == 1
    with (corpus / path).open("a", encoding="utf-8") as file:
        file.write("<!-- by hand -->")
    assert fabula("memory", "status", "--json").data["uncommitted"] == 1
    assert "fabula memory commit" in fabula("memory", "list").out


def test_a_task_goes_through_its_states_and_what_is_done_is_put_away(fabula: Fabula, corpus: Path) -> None:
    added = fabula("memory", "task", "add", "raise", "it", "--due", "2026-08-25", "--workspace", "w", "--json").data
    assert (added["path"], added["status"]) == ("projects/w/tasks/raise-it.html", "todo")
    waiting = fabula("memory", "task", "add", "tell", "them", "--json").data["path"]
    assert fabula("memory", "link", added["path"], "blocks", waiting).status == 0
    rows = {one["path"]: one for one in fabula("memory", "tasks", "--json").data["tasks"]}
    assert rows[waiting]["blocked_by"] == [added["path"]]
    early = fabula("memory", "tasks", "--due-before", "2026-08-25T09:00Z", "--json").data["tasks"]
    assert early == []
    late = fabula("memory", "task", "list", "--due-before", "2026-08-26", "--json").data["tasks"]
    assert [one["path"] for one in late] == [added["path"]]
    same = fabula("memory", "task", "status", added["path"], "todo", "--json").data
    assert (same["unchanged"], same["commit"]) == (True, None)
    done = fabula("memory", "task", "status", added["path"], "done", "--json").data
    assert done["archived"]
    assert added["path"] not in {one["path"] for one in fabula("memory", "tasks", "--json").data["tasks"]}
    assert done["path"] in {
        one["path"] for one in fabula("memory", "tasks", "--status", "done", "--json").data["tasks"]
    }
    assert fabula("memory", "search", "raise", "--json").data["hits"] == []
    assert fabula("memory", "search", "tell", "--type", "task", "--json").data["hits"]
    note = write(fabula, "It is 64.")
    assert "no task" in fabula("memory", "task", "status", note, "done", "--json").envelope["error"].replace(
        "not a", "no"
    )
    assert fabula("memory", "task", "status", waiting, "finished", "--json").envelope["code"] == "ERR_USAGE"
    assert fabula("memory", "task", "add", "x", "--due", "next tuesday", "--json").status != 0


def test_an_index_is_made_anew_and_a_bad_file_is_named(fabula: Fabula, corpus: Path) -> None:
    path = write(fabula, "It is 64.")
    (corpus / "areas/inbox/bad.html").write_text("<p>no memory", "utf-8")
    updated = fabula("memory", "index", "update", "--json").data
    assert [one["path"] for one in updated["problems"]] == ["areas/inbox/bad.html"]
    rebuilt = fabula("memory", "index", "rebuild", "--json").data
    assert (rebuilt["rebuilt"], rebuilt["files"]) == (True, 1)
    assert fabula("memory", "list", "--json").data["notices"] == ["1 file is no memory: fabula memory index status"]
    status = fabula("memory", "index", "status", "--json").data
    assert status["fresh"]
    assert status["status"]["problems"] == 1
    assert path in fabula("memory", "list").out
    assert fabula("memory", "status").status == 0


def test_a_memory_is_named_by_its_file_as_an_editor_or_a_shell_names_it(fabula: Fabula, corpus: Path) -> None:
    path = write(fabula, "It is 64.")
    bare = path.removesuffix(".html")
    for name in (path, f"/{path}", bare, str(corpus / path), str(corpus / bare), bare.rpartition("/")[2]):
        assert fabula("memory", "read", name, "--json").data["path"] == path
        assert fabula("memory", "history", name, "--json").data["path"] == path
        assert [one["path"] for one in fabula("memory", "at", "HEAD", name, "--json").data["memories"]] == [path]
    assert fabula("memory", "read", "areas/inbox/nothing", "--json").envelope["code"] == "ERR_NO_MEMORY"
    assert fabula("memory", "read", "../../etc/passwd", "--json").envelope["code"] == "ERR_PATH"


def test_a_file_that_an_editor_broke_is_called_broken_by_its_name_as_well(fabula: Fabula, corpus: Path) -> None:
    path = write(fabula, "It is 64.")
    (corpus / path).write_text("<<<<<<< HEAD\n", "utf-8")
    name = path.rpartition("/")[2].removesuffix(".html")
    for words in (("read", name), ("read", path), ("correct", name, "--claim", "It is 65.")):
        refused = fabula("memory", *words, "--json").envelope
        assert refused["code"] in {"ERR_MEMORY_FORMAT", "ERR_DIRTY"}, refused
        assert path in refused["error"]


def test_a_name_in_the_past_is_the_name_that_a_memory_had_then(fabula: Fabula, corpus: Path) -> None:
    path = write(fabula, "It is 64.")
    name = path.rpartition("/")[2].removesuffix(".html")
    fabula("memory", "archive", path)
    then = fabula("memory", "at", "HEAD~1", name, "--json").data["memories"]
    assert [one["path"] for one in then] == [path]
    now = fabula("memory", "at", "HEAD", name, "--json").data["memories"]
    assert [one["path"] for one in now] == [f"archive/{path_year(now)}/{path}"]


def path_year(memories: list[dict[str, str]]) -> str:
    """Return the year that the archive filed something under."""
    return memories[0]["path"].split("/")[1]


def test_one_memory_is_one_memory_and_not_one_memories(fabula: Fabula, corpus: Path) -> None:
    fabula("memory", "read", write(fabula, "It is 64."))
    said = [
        fabula("memory", *words).out
        for words in (("status",), ("index", "status"), ("index", "rebuild"), ("index", "update"), ("state", "import"))
    ]
    for out in said:
        assert "1 memory" in out
        assert "1 memories" not in out
    write(fabula, "Two clocks run.")
    assert "2 memories" in fabula("memory", "status").out


def test_state_is_exported_once_and_folded_anew(fabula: Fabula, corpus: Path) -> None:
    path = write(fabula, "It is 64.", "--session", "s-1")
    fabula("memory", "read", path, "--session", "s-1")
    first = fabula("memory", "state", "export", "--json").data
    assert first["commit"]
    assert fabula("memory", "state", "export", "--json").data["commit"] is None
    assert fabula("memory", "state", "import", "--json").data["memories"] == 1


# ── whole processes ──────────────────────────────────────────────────
def program(corpus: Path, *words: str, **options: object) -> list[str]:
    return [sys.executable, "-m", "fabula", "memory", *words, "--corpus", str(corpus)]


def test_a_megabyte_arrives_whole_through_a_slow_pipe(fabula: Fabula, corpus: Path, typed: Typed) -> None:
    words = " ".join(f"word{number}" for number in range(260))
    lines = [
        json.dumps({"op": "write", "title": f"Fact {n}", "type": "semantic", "body": f"Fact {n} is {words}."})
        for n in range(450)
    ]
    typed("\n".join(lines))
    assert fabula("memory", "apply").status == 0
    command = program(corpus, "list", "--limit", "500", "--json")
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=dict(os.environ)) as running:
        assert running.stdout is not None
        data = b""
        while piece := os.read(running.stdout.fileno(), 65_536):
            data += piece
            time.sleep(0.002)
    assert running.returncode == 0
    assert len(data) > 1_000_000
    assert len(json.loads(data)["data"]["memories"]) == 450


@pytest.mark.parametrize("words", [("list",), ("tasks",), ("search", "pool")])
def test_reading_lists_loads_neither_numbers_nor_a_parser(fabula: Fabula, corpus: Path, words: tuple[str, ...]) -> None:
    write(fabula, "The pool ceiling is 64.")
    fabula("memory", *words)
    code = (
        "import sys\nfrom fabula.cli.main import main\n"
        f"status = main(['memory', *{words!r}, '--corpus', {str(corpus)!r}, '--json'])\n"
        "heavy = {'numpy', 'turbohtml', 'pygit2', 'httpx', 'urllib.request'} & set(sys.modules)\n"
        "sys.exit(f'loaded {sorted(heavy)}' if heavy or status else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stderr
