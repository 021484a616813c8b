"""Writing one memory: gate, then whether it is known, then a free path, then one commit."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from storecorpus import START, Corpus, claim

from fabula.kernel.citations import Citation
from fabula.kernel.errors import FabulaError
from fabula.kernel.values import replace
from fabula.memory.store.archiving import archive
from fabula.memory.store.citing import address_of, citations_in, record_of
from fabula.memory.store.reading import read_memory
from fabula.memory.store.values import NewMemory, Occupied, Provenance
from fabula.memory.store.writing import write


def test_a_memory_is_one_file_in_one_commit_and_the_answer_says_which(corpus: Corpus) -> None:
    base = corpus.head()
    written = write(corpus.store, claim("Use UTC in logs", "Logs are written in UTC.", tags=("Logs",)))
    assert written.path == "resources/logs/use-utc-in-logs.html"
    assert (written.created, written.deduped, written.base, written.commit) == (True, False, base, corpus.head())
    assert corpus.changed() == [f"A\t{written.path}"]
    assert corpus.message() == "memhtml(write): Use UTC in logs"
    assert written.content_hash == corpus.reading(written.path).content_hash
    assert written.content_hash == corpus.metas(written.path)["memhtml-content-hash"]
    assert written.blob == corpus.person.git("rev-parse", f"HEAD:{written.path}")
    assert corpus.is_clean()


@pytest.mark.parametrize(
    ("asked", "path"),
    [
        ({"type": "episodic"}, f"areas/inbox/{datetime.fromtimestamp(START, UTC):%Y%m%d}-t.html"),
        ({"workspace": "Ledger DB"}, "projects/ledger-db/t.html"),
        ({"entities": ("person:ana",), "workspace": "x"}, "resources/people/t.html"),
        ({"path": "areas/own/place.html"}, "areas/own/place.html"),
        ({"path": "/areas//own/place.html/"}, "areas/own/place.html"),
        ({"type": "task", "workspace": "x"}, "projects/x/tasks/t.html"),
    ],
)
def test_where_a_memory_goes(corpus: Corpus, asked: dict[str, object], path: str) -> None:
    assert write(corpus.store, claim("T", "It holds.", **asked)).path == path
    assert (corpus.root / path).is_file()


def test_session_prompt_and_turn_stand_in_the_head_and_the_first_two_in_trailers(corpus: Corpus) -> None:
    said = Provenance("s-1", "p-1", "t-1", "agent:claude")
    written = write(corpus.store, claim("T", provenance=said))
    metas = corpus.metas(written.path)
    assert [metas[f"memhtml-{name}"] for name in ("session", "prompt", "turn", "author")] == [
        "s-1", "p-1", "t-1", "agent:claude",
    ]  # fmt: skip
    assert corpus.message().endswith("Memhtml-Session: s-1\nMemhtml-Prompt: p-1")


@pytest.mark.parametrize("bad", ["s\nEvil: yes", "a b", "x" * 201, "a\x85b", "a\u2028b"])
def test_an_id_that_could_be_read_as_more_than_an_id_is_refused(corpus: Corpus, bad: str) -> None:
    before = corpus.digest()
    with pytest.raises(FabulaError) as refused:
        write(corpus.store, claim("T", provenance=Provenance(session=bad)))
    assert refused.value.code == "ERR_USAGE"
    assert corpus.digest() == before


def test_the_same_title_gets_the_next_name_and_the_first_stays(corpus: Corpus) -> None:
    first = write(corpus.store, claim("Same title", "One holds."))
    kept = corpus.data(first.path)
    second = write(corpus.store, claim("Same title", "Two holds."))
    assert [first.path, second.path] == ["areas/inbox/same-title.html", "areas/inbox/same-title-2.html"]
    assert corpus.data(first.path) == kept


def test_a_name_is_counted_on_past_files_that_git_does_not_know_and_past_other_cases(corpus: Corpus) -> None:
    corpus.person.write("areas/inbox/note.html", "someone's own")
    corpus.person.write("areas/inbox/Note-2.html", "x")
    corpus.person.git("add", "areas/inbox/Note-2.html")
    corpus.person.git("commit", "-qm", "by hand")
    assert write(corpus.store, claim("Note")).path == "areas/inbox/note-3.html"
    assert (corpus.root / "areas/inbox/note.html").read_text() == "someone's own"


def test_a_fact_that_is_known_is_not_written_again_whatever_it_is_called(corpus: Corpus) -> None:
    first = write(corpus.store, claim("A", "The pool is 64."))
    before = corpus.digest()
    again = write(corpus.store, claim("Another title", "The  pool is\n64.", tags=("new",)))
    assert (again.path, again.existing, again.created, again.deduped) == (first.path, first.path, False, True)
    assert again.commit is None
    assert again.base == corpus.head()
    assert corpus.digest() == before


def test_a_fact_whose_memory_was_archived_is_written_anew(corpus: Corpus) -> None:
    first = write(corpus.store, claim("A", "The pool is 64."))
    archive(corpus.store, first.path, "old")
    again = write(corpus.store, claim("A", "The pool is 64."))
    assert again.created
    assert again.path == first.path


def test_tasks_are_each_their_own(corpus: Corpus) -> None:
    fact = write(corpus.store, claim("Do it", "Do it."))
    task = NewMemory("Do it", "task", claim="Do it.")
    one, two = write(corpus.store, task), write(corpus.store, task)
    assert [one.path, two.path] == ["areas/inbox/tasks/do-it.html", "areas/inbox/tasks/do-it-2.html"]
    assert write(corpus.store, claim("Do it", "Do it.")).existing == fact.path
    assert corpus.metas(one.path)["memhtml-task-status"] == "todo"


def test_the_same_words_with_another_value_are_two_facts_and_it_is_said(corpus: Corpus) -> None:
    forty = "<p><mark>The limit is <data value='{}'>forty</data>.</mark></p>"
    first = write(corpus.store, claim("Limit", article_html=forty.format(40)))
    second = write(corpus.store, claim("Limit", article_html=forty.format(4)))
    assert second.created
    assert second.same_text == (first.path,)
    assert first.content_hash == second.content_hash
    assert first.fact_hash != second.fact_hash
    assert "values for machines" in second.notices[0]


def test_an_occupied_path_is_a_typed_conflict_and_its_file_is_untouched(corpus: Corpus) -> None:
    first = write(corpus.store, claim("A", "One holds.", path="areas/x/a.html"))
    before = corpus.digest()
    with pytest.raises(Occupied) as refused:
        write(corpus.store, claim("B", "Two holds.", path="areas/x/a.html"))
    found = refused.value
    assert (found.code, found.path, found.content_hash) == ("ERR_WRITE_CONFLICT", first.path, first.content_hash)
    assert found.blob == first.blob
    assert corpus.digest() == before


@pytest.mark.parametrize(
    "path",
    ["../x.html", "areas/../../x.html", "notes/x.html", "areas/x.txt", "areas/index.html", ".git/x.html",
     "areas/.x.html", "archive/2026/areas/x.html", "areas/con.html", "areas/a\nb.html", "x.html", "",
     "areas/" + "y" * 500 + ".html"],
)  # fmt: skip
def test_a_path_that_no_memory_can_have_is_an_error_not_another_path(corpus: Corpus, path: str) -> None:
    before = corpus.digest()
    with pytest.raises(FabulaError) as refused:
        write(corpus.store, claim("A", path=path))
    assert refused.value.code == "ERR_PATH"
    assert corpus.digest() == before


def test_a_memory_is_replaced_only_by_who_knows_what_is_there(corpus: Corpus) -> None:
    first = write(corpus.store, claim("A", "One holds.", path="areas/x/a.html"))
    corpus.clock.seconds += 60
    asked = claim("A", "Two holds.", path="areas/x/a.html", if_hash=first.content_hash)
    second = write(corpus.store, asked)
    assert (second.path, second.replaced, second.created) == (first.path, True, False)
    metas = corpus.metas(second.path)
    assert metas["memhtml-created"] < metas["memhtml-updated"]
    with pytest.raises(Occupied, match="not what it was"):
        write(corpus.store, replace(asked, claim="Three holds."))
    third = write(corpus.store, replace(asked, claim="Three holds.", if_hash=second.blob))
    assert third.replaced
    assert corpus.changed() == [f"M\t{first.path}"]
    with pytest.raises(FabulaError, match="nothing is there"):
        write(corpus.store, claim("A", path="areas/x/none.html", if_hash="sha256:0"))


@pytest.mark.parametrize(
    "asked",
    [
        {"type": "arc"}, {"type": "epesodic"}, {"claim": "", "article_html": None}, {"title": " "},
        {"article_html": "<p><mark>x</mark></p>", "claim": "y"}, {"importance": 11}, {"confidence": 1.5},
        {"confidence": float("nan")}, {"due": "2026-05-14"}, {"if_hash": "x"}, {"task_status": "todo"},
        {"links": (("likes", "areas/x.html"),)}, {"type": "task", "task_status": "later"},
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_a_wrong_call(corpus: Corpus, asked: dict[str, object]) -> None:
    before = corpus.digest()
    with pytest.raises(FabulaError) as refused:
        write(corpus.store, replace(claim("A", "One holds."), **asked))
    assert refused.value.code == "ERR_USAGE"
    assert corpus.digest() == before


@pytest.mark.parametrize(
    "asked",
    [
        {"claim": "", "article_html": "<p>no mark</p>"},
        {"claim": "", "article_html": "<p><mark>x</mark><img src='http://e.org/p.png'></p>"},
        {"claim": "x" * 2001}, {"title": "t" * 301}, {"tags": tuple(f"t{n}" for n in range(65))},
        {"valid_from": "yesterday"}, {"body": ("word " * 60_000,)},
    ],
)  # fmt: skip
def test_what_the_gate_refuses_leaves_no_trace(corpus: Corpus, asked: dict[str, object]) -> None:
    before = corpus.digest()
    with pytest.raises(FabulaError) as refused:
        write(corpus.store, replace(claim("A", "One holds."), **asked))
    assert refused.value.code == "ERR_MEMORY_FORMAT"
    assert corpus.digest() == before


def test_markup_reaches_the_disk_unescaped_and_prose_escaped(corpus: Corpus) -> None:
    markup = '<p><mark>It began.</mark> <time datetime="2026-05-14">then</time></p>'
    one = write(corpus.store, claim("M", article_html=markup))
    assert '<time datetime="2026-05-14">then</time>' in corpus.data(one.path).decode()
    two = write(corpus.store, claim("P", "A <time>tag</time> is text."))
    assert "&lt;time&gt;" in corpus.data(two.path).decode()


SECRET = "AKIA" + "Q4ZJ7RTW2MXK5NBE"


@pytest.mark.parametrize("where", ["claim", "body", "title", "path"])
def test_a_secret_is_refused_before_a_commit_and_never_repeated(corpus: Corpus, where: str) -> None:
    said: dict[str, object] = {
        "claim": f"The key is {SECRET}.", "body": (f"It is {SECRET}.",), "title": f"Key {SECRET}",
        "path": f"areas/x/{SECRET}.html",
    }  # fmt: skip
    before = corpus.digest()
    asked = replace(claim("A", "One holds."), **{where: said[where]})
    with pytest.raises(FabulaError) as refused:
        write(corpus.store, asked)
    assert refused.value.code == "ERR_SECRET"
    assert SECRET not in refused.value.message + "".join(refused.value.suggestions)
    assert corpus.digest() == before
    assert write(corpus.store, replace(asked, allow_secrets=True)).created


def test_what_is_cited_stands_in_a_meta_and_its_words_in_the_article(corpus: Corpus) -> None:
    digest = "sha256:" + "ab" * 32
    cites = (
        Citation("rec-1", digest, "we use\n  UTC <everywhere>"),
        Citation("rec-1", digest, "no local time"),
        Citation("rec:2/x", "sha256:" + "cd" * 32),
    )
    written = write(corpus.store, claim("Use UTC", "Logs are in UTC.", cites=cites))
    reading = corpus.reading(written.path)
    assert citations_in(reading) == list(cites)
    assert reading.content.claim == "Logs are in UTC."
    assert [found.address for found in reading.content.citations] == [address_of("rec-1")] * 2
    assert record_of(address_of("rec:2/x ü")) == "rec:2/x ü"
    assert record_of("https://example.org") is None


def test_a_relation_at_writing_has_the_same_guards_as_link(corpus: Corpus) -> None:
    task = write(corpus.store, NewMemory("Do it", "task", claim="Do it."))
    before = corpus.digest()
    with pytest.raises(FabulaError) as refused:
        write(corpus.store, claim("A", links=(("caused_by", "areas/inbox/none.html"),)))
    assert refused.value.code == "ERR_NO_MEMORY"
    with pytest.raises(FabulaError) as refused:
        write(corpus.store, claim("A", links=(("caused_by", task.path),)))
    assert refused.value.code == "ERR_USAGE"
    assert corpus.digest() == before
    cause = write(corpus.store, claim("Cause"))
    effect = write(corpus.store, claim("Effect", links=(("caused_by", "/" + cause.path), ("from_session", "s/1.html"))))
    assert [link.href for link in corpus.reading(effect.path).links] == ["/" + cause.path, "/s/1.html"]


def test_what_a_person_staged_stays_staged_and_is_no_part_of_the_commit(corpus: Corpus) -> None:
    corpus.person.write("areas/mine.html", "draft")
    corpus.person.git("add", "areas/mine.html")
    written = write(corpus.store, claim("A"))
    assert corpus.changed() == [f"A\t{written.path}"]
    assert corpus.person.status() == ["A  areas/mine.html"]


def test_an_index_that_cannot_take_a_commit_in_does_not_undo_it(corpus: Corpus) -> None:
    corpus.known.fails = FabulaError("ERR_DATABASE", "the index is damaged")
    written = write(corpus.store, claim("A"))
    assert written.created
    assert written.commit == corpus.head()
    assert "the index is damaged" in written.notices[0]


def test_reading_keeps_inside_of_the_corpus(corpus: Corpus) -> None:
    written = write(corpus.store, claim("A"))
    assert read_memory(corpus.root, f"/{written.path}").reading.title == "A"
    (corpus.root.parent / "outside.html").write_bytes(corpus.data(written.path))
    (corpus.root / "areas/link.html").symlink_to(corpus.root.parent / "outside.html")
    (corpus.root / "areas/far").symlink_to(corpus.root.parent)
    cases = {
        "../outside.html": "ERR_PATH", "areas/../../outside.html": "ERR_PATH", "areas/link.html": "ERR_PATH",
        "areas/far/outside.html": "ERR_PATH", "areas/none.html": "ERR_NO_MEMORY", "README.html": "ERR_PATH",
    }  # fmt: skip
    for path, code in cases.items():
        with pytest.raises(FabulaError) as refused:
            read_memory(corpus.root, path)
        assert refused.value.code == code, path
    corpus.person.write("areas/broken.html", "<p>nothing")
    with pytest.raises(FabulaError, match=r"areas/broken\.html:1") as refused:
        read_memory(corpus.root, "areas/broken.html")
    assert refused.value.code == "ERR_MEMORY_FORMAT"
