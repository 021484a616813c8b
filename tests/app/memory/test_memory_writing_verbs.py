"""``fabula memory write``, ``correct``, ``link``, ``archive``: one change, one commit, or a clear refusal."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.testing.outcome import Outcome

Fabula = Callable[..., Outcome]
Typed = Callable[[str], None]


def git(root: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True, text=True).stdout


def head(root: Path) -> str:
    return git(root, "rev-parse", "HEAD").strip()


def write(fabula: Fabula, claim: str, *more: str) -> dict[str, object]:
    outcome = fabula("memory", "write", "--type", "semantic", "--claim", claim, *more, "--json")
    assert outcome.status == 0, outcome.out
    data: dict[str, object] = outcome.data
    return data


def test_a_fact_of_a_workspace_is_one_commit_and_the_first_that_is_found(fabula: Fabula, corpus: Path) -> None:
    done = write(fabula, "The pool ceiling is 64.", "--workspace", "ledger", "--session", "s-1", "--tag", "db")
    assert done["path"] == "projects/ledger/the-pool-ceiling-is-64.html"
    assert done["commit"] == head(corpus)
    assert git(corpus, "show", "--name-only", "--format=", "HEAD").split() == [done["path"]]
    assert b"<mark>The pool ceiling is 64.</mark>" in (corpus / str(done["path"])).read_bytes()
    assert "Memhtml-Session: s-1" in git(corpus, "log", "-1", "--format=%B")
    found = fabula("memory", "search", "pool", "ceiling", "--all", "--json").data
    assert found["hits"][0]["path"] == done["path"]
    assert {"text", "vector"} <= set(found["arms"])
    assert not git(corpus, "status", "--short")


def test_what_is_known_is_not_written_again_until_it_was_archived(fabula: Fabula, corpus: Path) -> None:
    first = write(fabula, "The pool ceiling is 64.")
    before = head(corpus)
    again = write(fabula, "The pool ceiling is 64.", "--title", "Another title")
    assert (again["deduped"], again["created"], again["commit"]) == (True, False, None)
    assert again["existing"] == first["path"]
    assert head(corpus) == before
    assert fabula("memory", "archive", str(first["path"]), "--reason", "gone").status == 0
    assert write(fabula, "The pool ceiling is 64.")["created"]


def test_a_title_is_made_of_the_claim_and_cut_at_a_word(fabula: Fabula, corpus: Path) -> None:
    assert write(fabula, "Two clocks run.")["title"] == "Two clocks run"
    long = str(write(fabula, "word " * 40 + "end.")["title"])
    assert len(long) <= 80
    assert long.endswith("word…")


def test_prose_from_standard_input_has_its_claim_first(fabula: Fabula, corpus: Path, typed: Typed) -> None:
    typed("Deploys run on Friday. Nobody knows why.\n\nSecond paragraph.\n")
    done = write(fabula, "-")
    page = (corpus / str(done["path"])).read_text("utf-8")
    assert "<mark>Deploys run on Friday.</mark> Nobody knows why." in page
    assert "<p>Second paragraph.</p>" in page


def test_markup_comes_in_unescaped_and_facets_are_named_values(fabula: Fabula, corpus: Path) -> None:
    markup = (
        '<p><mark>Raised.</mark> On <time datetime="2026-05-14">that day</time>.</p><dl><dt>by</dt><dd>me</dd></dl>'
    )
    done = fabula(
        "memory", "write", "--type", "episodic", "--article-html", markup, "--facet", "team=core", "--json"
    ).data
    assert done["title"] == "Raised"
    shown = fabula("memory", "read", done["path"], "--json").data
    assert shown["facets"] == {"by": ["me"], "team": ["core"]}
    assert shown["event"] == "2026-05-14"
    assert fabula("memory", "list", "--facet", "team=core", "--json").data["total"] == 1


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--type", "epesodic", "--claim", "x"), "ERR_USAGE", "did you mean episodic"),
        (("--type", "arc", "--claim", "x"), "ERR_USAGE", "--type is one of"),
        (("--claim", "x"), "ERR_USAGE", "--type"),
        (("--type", "semantic"), "ERR_USAGE", "--claim or --article-html"),
        (("--type", "semantic", "--claim", "x", "--article-html", "<p>"), "ERR_USAGE", "both given"),
        (("--type", "semantic", "--claim", "x", "--importance", "99"), "ERR_USAGE", "at most 10"),
        (("--type", "semantic", "--claim", "x", "--importance", "0"), "ERR_USAGE", "at least 1"),
        (("--type", "semantic", "--claim", "x", "--confidence", "7"), "ERR_USAGE", "at most 1"),
        (("--type", "semantic", "--claim", "x", "--confidence", "nan"), "ERR_USAGE", "needs a number"),
        (("--type", "semantic", "--claim", "x", "--facet", "name"), "ERR_USAGE", "name=value"),
        (("--type", "semantic", "--claim", "x", "--quote", "y"), "ERR_USAGE", "needs the record"),
        (("--type", "semantic", "--article-html", "<p>no mark</p>"), "ERR_MEMORY_FORMAT", "<mark>"),
        (("--type", "semantic", "--claim", " "), "ERR_USAGE", "is empty"),
        (("--type", "semantic", "--claim", "-"), "ERR_USAGE", "is empty"),
        (("--type", "semantic", "--claim", "-", "--body", "-"), "ERR_USAGE", "only one"),
        (("--type", "semantic", "--body", "x"), "ERR_USAGE", "--body belongs"),
        (("--type", "semantic", "--claim", "x", "--entity", "nobody"), "ERR_USAGE", "type:name"),
        (("--type", "semantic", "--article-html", "<p>no mark</p>", "--title", "t"), "ERR_MEMORY_FORMAT", "<mark>"),
        (("--type", "semantic", "--claim", "x", "--path", "../out.html"), "ERR_PATH", "cannot be the path"),
        (("--type", "semantic", "--claim", "x", "--valid-from", "tuesday"), "ERR_MEMORY_FORMAT", "tuesday"),
        (("--type", "semantic", "--claim", "x", "surplus"), "ERR_USAGE", "surplus"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_nothing_is_written(
    fabula: Fabula, corpus: Path, typed: Typed, words: tuple[str, ...], code: str, said: str
) -> None:
    typed("")
    before = head(corpus)
    outcome = fabula("memory", "write", *words, "--json")
    assert outcome.envelope["code"] == code
    assert said in outcome.envelope["error"]
    assert head(corpus) == before
    assert not git(corpus, "status", "--short")


def test_a_place_that_is_taken_is_refused_unless_its_hash_is_named(fabula: Fabula, corpus: Path) -> None:
    first = write(fabula, "It is 64.", "--path", "areas/inbox/pool.html")
    taken = fabula(
        "memory", "write", "--type", "semantic", "--claim", "It is 65.", "--path", "areas/inbox/pool.html", "--json"
    )
    assert taken.envelope["code"] == "ERR_WRITE_CONFLICT"
    assert b"It is 64." in (corpus / "areas/inbox/pool.html").read_bytes()
    hashed = ("--path", "areas/inbox/pool.html", "--if-hash", str(first["content_hash"]))
    assert write(fabula, "It is 65.", *hashed)["replaced"]


def test_a_secret_is_refused_and_no_flag_alone_lets_it_in(fabula: Fabula, corpus: Path) -> None:
    before = head(corpus)
    key = "sk-" + "ant-api03-" + "a1B2c3D4e5" * 9 + "xyz" + "AA"
    words = ("memory", "write", "--type", "semantic", "--claim", f"The key is {key} for now.", "--json")
    refused = fabula(*words)
    assert refused.envelope["code"] == "ERR_SECRET"
    assert any("--allow-secret" in one for one in refused.envelope["suggestions"])
    assert refused.envelope["error"].count("anthropic") == 1, "the claim stands in title and text: it is said once"
    assert " in line " not in refused.envelope["error"], "lines of a page that nobody has seen"
    assert key not in refused.out
    assert head(corpus) == before


def test_a_correction_keeps_what_it_does_not_say_and_both_lead_to_each_other(fabula: Fabula, corpus: Path) -> None:
    old = write(
        fabula, "It is 64.", "--title", "Pool", "--workspace", "ledger", "--tag", "db", "--entity", "service:pool"
    )
    done = fabula(
        "memory",
        "correct",
        "pool",
        "--claim",
        "It is 128.",
        "--reason",
        "raised in May",
        "--title",
        "Pool now",
        "--json",
    ).data
    assert done["archived"].startswith("archive/")
    new = fabula("memory", "read", done["path"], "--json").data
    assert (new["workspace"], new["tags"], new["entities"]) == ("ledger", ["db"], ["service:pool"])
    assert {"relation": "supersedes", "path": done["archived"]} in new["links"]
    gone = fabula("memory", "read", done["archived"], "--json").data
    assert gone["superseded_by"] == done["path"]
    assert gone["metas"]["fabula-reason"] == "raised in May"
    assert [one["path"] for one in fabula("memory", "list", "--json").data["memories"]] == [done["path"]]
    every = fabula("memory", "list", "--include-archived", "--json").data["memories"]
    assert {one["path"] for one in every} == {done["path"], done["archived"]}
    missed = fabula("memory", "read", str(old["path"]), "--json").envelope
    assert missed["code"] == "ERR_NO_MEMORY"
    assert missed["suggestions"][:2] == [f"fabula memory read {path}" for path in (done["path"], done["archived"])]
    led = fabula("memory", "resolve", str(old["path"]), "--json").data
    assert (led["path"], led["stop_reason"]) == (done["path"], "live")


def test_a_correction_says_so_where_text_behind_the_old_claim_stays_behind(fabula: Fabula, corpus: Path) -> None:
    bare = str(write(fabula, "It is 64.")["path"])
    assert fabula("memory", "correct", bare, "--claim", "It is 65.", "--json").data["notices"] == []
    full = str(write(fabula, "Two clocks run.", "--body", "One is slow.", "--alias", "clocks")["path"])
    told = fabula("memory", "correct", full, "--claim", "Three clocks run.", "--json").data
    assert len(told["notices"]) == 1
    assert "--body" in told["notices"][0]
    last = fabula("memory", "correct", told["path"], "--claim", "No clock runs.", "--body", "All stand.", "--json").data
    assert last["notices"] == []
    assert fabula("memory", "read", last["path"], "--json").data["metas"]["memhtml-alias"] == ["clocks"]


def test_a_relation_is_seen_from_both_ends_and_written_once(fabula: Fabula, corpus: Path) -> None:
    one, other = write(fabula, "It fell over.")["path"], write(fabula, "It is 64.")["path"]
    first = fabula("memory", "link", str(one), "caused_by", str(other), "--json").data
    assert first["commit"]
    assert b'rel="memhtml-caused-by"' in (corpus / str(one)).read_bytes()
    again = fabula("memory", "link", str(one), "caused_by", str(other), "--json").data
    assert (again["commit"], again["unchanged"]) == (None, True)
    for center, far in ((one, other), (other, one)):
        near = fabula("memory", "neighbors", str(center), "--json").data
        assert [(node["path"], node["hops"]) for node in near["nodes"]] == [(far, 1)]
    assert fabula("memory", "link", str(one), "caused_by", str(one), "--json").envelope["code"] == "ERR_USAGE"
    near = fabula("memory", "link", str(one), "causedby", str(other), "--json").envelope["error"]
    assert "did you mean caused_by" in near
    assert fabula("memory", "link", str(one), "blocks", str(other), "--json").envelope["code"] == "ERR_USAGE"
    assert fabula("memory", "unlink", str(one), "caused_by", str(other), "--json").data["commit"]
    assert fabula("memory", "neighbors", str(one), "--json").data["nodes"] == []


def test_archiving_mirrors_the_path_and_comes_back(fabula: Fabula, corpus: Path) -> None:
    done = fabula("memory", "write", "--type", "episodic", "--claim", "It fell over.", "--json").data
    archived = fabula("memory", "archive", done["path"], "--reason", "long ago", "--json").data
    assert archived["archived"].endswith(done["path"])
    assert fabula("memory", "archive", archived["archived"], "--json").envelope["code"] == "ERR_WRITE_CONFLICT"
    assert fabula("memory", "unarchive", archived["archived"], "--json").data["path"] == done["path"]
    assert fabula("memory", "history", done["path"], "--json").data["versions"][0]["op"] == "unarchive"


def test_word_of_a_memory_counts_once_in_a_while_and_never_for_one_that_is_not_there(
    fabula: Fabula, corpus: Path
) -> None:
    path = str(write(fabula, "It is 64.")["path"])
    first = fabula("memory", "reinforce", path, "--json").data["memories"][0]
    second = fabula("memory", "reinforce", path, "--json").data["memories"][0]
    assert (first["counted"], second["counted"]) == (True, False)
    for missing in ("areas/inbox/none.html", "none", "../outside.html"):
        outcome = fabula("memory", "reinforce", path, missing, "--signal", "positive", "--json")
        assert outcome.envelope["code"] in {"ERR_NO_MEMORY", "ERR_PATH"}
    again = fabula("memory", "reinforce", path, "--json").data["memories"][0]
    assert again["reinforcements"] == 0


def test_searching_opens_nothing_and_reading_counts_once(fabula: Fabula, corpus: Path) -> None:
    path = str(write(fabula, "It is 64.")["path"])
    for _ in range(2):
        fabula("memory", "search", "64", "--all")
        fabula("memory", "read", path)
    assert fabula("memory", "reinforce", path, "--json").data["memories"][0]["accesses"] == 1


def test_a_facet_alone_is_added_to_what_a_memory_says(fabula: Fabula, corpus: Path) -> None:
    path = str(write(fabula, "The pool ceiling is 64.", "--facet", "status=proposed")["path"])
    done = fabula("memory", "correct", path, "--facet", "owner=core", "--json").data
    shown = fabula("memory", "read", done["path"], "--json").data
    assert shown["facets"] == {"status": ["proposed"], "owner": ["core"]}
    assert shown["title"] == "The pool ceiling is 64"


def test_renames_by_hand_are_followed_by_what_was_logged(fabula: Fabula, corpus: Path) -> None:
    path = str(write(fabula, "It is 64.")["path"])
    fabula("memory", "reinforce", path, "--signal", "positive")
    (corpus / "areas/pools").mkdir()
    git(corpus, "mv", path, "areas/pools/pool.html")
    git(corpus, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "tidy")
    assert fabula("memory", "list", "--json").data["memories"][0]["path"] == "areas/pools/pool.html"
    again = fabula("memory", "reinforce", "areas/pools/pool.html", "--json").data["memories"][0]
    assert again["reinforcements"] == 1
    assert "areas/pools/pool.html" in fabula("memory", "read", path, "--json").envelope["suggestions"][0]


def test_a_title_of_its_own_outlives_a_correction_and_one_made_of_the_claim_does_not(
    fabula: Fabula, corpus: Path
) -> None:
    own = str(write(fabula, "It is 64.", "--title", "The pool's ceiling")["path"])
    made = str(write(fabula, "The limit is 3.")["path"])
    titles = []
    for path, claim in ((own, "It is 128."), (made, "The limit is 5.")):
        new = fabula("memory", "correct", path, "--claim", claim, "--json").data["path"]
        titles.append(fabula("memory", "read", new, "--json").data["title"])
    assert titles == ["The pool's ceiling", "The limit is 5"]
