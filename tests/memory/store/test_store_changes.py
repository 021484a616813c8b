"""Correcting, superseding, archiving and bringing back: moves in one commit each, nothing lost on either side."""

from __future__ import annotations

import pytest
from storecorpus import Corpus, claim

from fabula.kernel.errors import FabulaError
from fabula.memory.format.paths import original_path
from fabula.memory.store.archiving import archive, unarchive
from fabula.memory.store.correcting import correct
from fabula.memory.store.linking import link
from fabula.memory.store.superseding import supersede
from fabula.memory.store.values import Correction, NewMemory, Occupied, Pair, Provenance
from fabula.memory.store.writing import write

UNTIL, SINCE, BY = "memhtml-valid-until", "memhtml-valid-from", "memhtml-superseded-by"


def pool(corpus: Corpus, **more: object) -> str:
    asked = claim("Pool size", "The pool is 64.", workspace="alpha", **more)
    return write(corpus.store, asked).path


def test_a_correction_is_one_commit_that_moves_the_old_and_links_both_ways(corpus: Corpus) -> None:
    target = pool(corpus, tags=("db",), body=("It was counted in production.", "Each of two replicas has its own."))
    article = corpus.reading(target).article_bytes
    corpus.clock.seconds += 3600
    found = correct(corpus.store, Correction(target, "measured anew", claim="The pool is 128."))
    assert found.archived == f"archive/2026/{target}"
    assert corpus.changed() == [f"A\t{found.archived}", f"A\t{found.path}", f"D\t{target}"]
    assert corpus.person.git("show", "-M", "--format=", "--summary", "HEAD").count("rename") == 1
    assert len(corpus.person.git("log", "--follow", "--format=%h", "--", found.archived).splitlines()) == 2
    new, old = corpus.reading(found.path), corpus.reading(found.archived)
    assert [(one.rel, one.href) for one in new.links] == [("memhtml-supersedes", f"/{found.archived}")]
    metas = corpus.metas(found.archived)
    assert metas[BY] == f"/{found.path}"
    assert metas["memhtml-status"] == "archived"
    assert metas["fabula-origin"] == target == original_path(found.archived)
    assert metas["fabula-reason"] == "measured anew"
    assert old.article_bytes == article
    assert metas["memhtml-content-hash"] == old.content_hash
    assert metas[UNTIL] == corpus.metas(found.path)[SINCE] == found.valid_from
    assert corpus.message() == "memhtml(correct): Pool size\n\nmeasured anew\n\nFabula-Reason: measured anew"
    assert found.moves == ((target, found.archived),)
    assert not (corpus.root / target).exists()
    assert corpus.is_clean()


def test_a_correction_has_from_the_target_whatever_it_does_not_say(corpus: Corpus) -> None:
    other = write(corpus.store, claim("Cause", "It was slow.")).path
    target = pool(
        corpus, tags=("db", "pool"), entities=("service:ledger",), aliases=("size",), importance=8, confidence=0.9,
        links=(("caused_by", other), ("from_session", "s/1.html")),
    )  # fmt: skip
    found = correct(corpus.store, Correction(target, claim="The pool is 128.", provenance=Provenance("s-2")))
    head = corpus.reading(found.path).head
    assert found.path == "projects/alpha/pool-size-2.html"
    assert (head.tags, head.entities, head.aliases) == (("db", "pool"), ("service:ledger",), ("size",))
    assert (head.importance, head.confidence, head.session) == (8, 0.9, "s-2")
    rels = [one.rel for one in corpus.reading(found.path).links]
    assert rels == ["memhtml-caused-by", "memhtml-supersedes"]
    asked = Correction(found.path, claim="It is 256.", tags=("new",), importance=2, links=(), workspace="beta")
    again = correct(corpus.store, asked)
    head = corpus.reading(again.path).head
    assert again.path == "projects/beta/pool-size.html"
    assert (head.tags, head.importance, head.confidence) == (("new",), 2, 0.9)
    assert [one.href for one in corpus.reading(again.path).links] == [f"/{again.archived}"]


def test_corrections_of_corrections_are_a_chain_that_can_be_walked(corpus: Corpus) -> None:
    at = pool(corpus)
    archived: list[str] = []
    for size in (128, 256, 512):
        corpus.clock.seconds += 3600
        found = correct(corpus.store, Correction(at, claim=f"The pool is {size}."))
        archived.append(str(found.archived))
        at = found.path
    seen = []
    while links := [one for one in corpus.reading(at).links if one.rel == "memhtml-supersedes"]:
        at = links[0].href[1:]
        seen.append(at)
    assert seen == archived[::-1]
    windows = [(corpus.metas(path).get(SINCE), corpus.metas(path)[UNTIL]) for path in archived]
    assert [since for since, _ in windows[1:]] == [until for _, until in windows[:-1]]
    with pytest.raises(FabulaError, match="took its place") as refused:
        correct(corpus.store, Correction(archived[0], claim="It is 1."))
    assert refused.value.code == "ERR_WRITE_CONFLICT"


@pytest.mark.parametrize(
    ("asked", "stated", "since", "until"),
    [
        ({"valid_from": "2026-03-01"}, None, "2026-03-01", "2026-03-01"),
        ({"claim": "", "article_html": "<p><mark>x</mark> <time datetime='2026-02-02'>f</time></p>"}, None,
         "2026-02-02", "2026-02-02"),
        ({}, None, "2026-05-28T20:26:40Z", "2026-05-28T20:26:40Z"),
        ({}, "2026-01-01", "2026-05-28T20:26:40Z", "2026-01-01"),
        ({}, "2027-01-01", "2026-05-28T20:26:40Z", "2026-05-28T20:26:40Z"),
        ({"valid_from": "2026-05-14"}, "2026-05-14T08:00:00Z", "2026-05-14", "2026-05-14"),
    ],
)  # fmt: skip
def test_windows_of_validity_abut_and_an_earlier_end_that_was_stated_stays(
    corpus: Corpus, asked: dict[str, object], stated: str | None, since: str, until: str
) -> None:
    target = pool(corpus, valid_until=stated)
    given: dict[str, object] = {"claim": "The pool is 128.", **asked}
    found = correct(corpus.store, Correction(target, **given))  # type: ignore[arg-type]
    assert found.archived is not None
    assert corpus.metas(found.path)[SINCE] == since == found.valid_from
    assert corpus.metas(found.archived)[UNTIL] == until


def test_a_correction_that_another_memory_states_already_makes_that_one_the_successor(corpus: Corpus) -> None:
    target = pool(corpus)
    other = write(corpus.store, claim("Measured", "The pool is 128.")).path
    found = correct(corpus.store, Correction(target, "same as", claim="The pool is 128."))
    assert (found.path, found.deduped, found.created, found.existing) == (other, True, False, other)
    assert found.archived is not None
    assert corpus.metas(found.archived)[BY] == f"/{other}"
    assert [one.href for one in corpus.reading(other).links] == [f"/{found.archived}"]
    assert corpus.metas(other)[SINCE] == corpus.metas(found.archived)[UNTIL]
    assert len({one.content_hash for one in corpus.known.readings.values() if one.is_memory}) == 2


def test_a_correction_that_reads_like_another_memory_and_holds_another_value_says_so(corpus: Corpus) -> None:
    forty = "<p><mark>The limit is <data value='{}'>forty</data>.</mark></p>"
    other = write(corpus.store, claim("Limit", article_html=forty.format(40))).path
    found = correct(corpus.store, Correction(pool(corpus), article_html=forty.format(4)))
    assert found.created
    assert other in found.notices[0]


def test_a_correction_that_says_what_the_target_does_changes_nothing(corpus: Corpus) -> None:
    target = pool(corpus, tags=("a",))
    before = corpus.digest()
    for asked in (
        Correction(target, "why"),
        Correction(target, claim="The pool is 64."),
        Correction(target, tags=("a",)),
    ):
        found = correct(corpus.store, asked)
        assert (found.unchanged, found.commit, found.path) == (True, None, target)
    assert corpus.digest() == before
    renamed = correct(corpus.store, Correction(target, title="Size of the pool"))
    assert renamed.path == "projects/alpha/size-of-the-pool.html"
    assert corpus.reading(renamed.path).content.claim == "The pool is 64."


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"claim": "x" * 2001}, "ERR_MEMORY_FORMAT"),
        ({"claim": "a", "article_html": "<p><mark>b</mark></p>"}, "ERR_USAGE"),
        ({"claim": "a", "type": "task"}, "ERR_USAGE"), ({"claim": "a", "type": "nonsense"}, "ERR_USAGE"),
        ({"claim": "a", "path": "../x.html"}, "ERR_PATH"), ({"target": "areas/none.html"}, "ERR_NO_MEMORY"),
        ({"target": "../x.html"}, "ERR_PATH"),
        ({"claim": "a", "links": (("supports", "areas/no.html"),)}, "ERR_NO_MEMORY"),
        ({"claim": "Key " + "AKIA" + "Q4ZJ7RTW2MXK5NBE"}, "ERR_SECRET"),
        ({"claim": "a", "reason": "it was " + "AKIA" + "Q4ZJ7RTW2MXK5NBE"}, "ERR_SECRET"),
        ({"claim": "a", "path": "areas/taken.html"}, "ERR_WRITE_CONFLICT"),
    ],
)  # fmt: skip
def test_a_correction_that_is_refused_leaves_the_target_in_use(
    corpus: Corpus, asked: dict[str, object], code: str
) -> None:
    target = pool(corpus)
    write(corpus.store, claim("Taken", path="areas/taken.html"))
    before = corpus.digest()
    with pytest.raises(FabulaError) as refused:
        correct(corpus.store, Correction(**{"target": target, **asked}))  # type: ignore[arg-type]
    assert refused.value.code == code
    assert corpus.digest() == before


def test_a_change_that_a_person_has_not_committed_is_never_overwritten(corpus: Corpus) -> None:
    target = pool(corpus)
    mine = corpus.data(target).decode().replace("64", "65")
    corpus.person.write(target, mine)
    head = corpus.head()
    for change in (
        lambda: correct(corpus.store, Correction(target, claim="The pool is 128.")),
        lambda: archive(corpus.store, target, "old"),
        lambda: link(corpus.store, target, "from_session", "s/1.html"),
    ):
        with pytest.raises(FabulaError) as refused:
            change()
        assert refused.value.code == "ERR_DIRTY"
    assert corpus.data(target).decode() == mine
    assert corpus.head() == head
    corpus.person.write("areas/hand.html", mine)
    with pytest.raises(FabulaError) as refused:
        archive(corpus.store, "areas/hand.html", "old")
    assert refused.value.code == "ERR_DIRTY"


# ── archive ─────────────────────────────────────────────────────────
def test_archiving_is_a_move_with_stamps_and_the_whole_reason(corpus: Corpus) -> None:
    target = pool(corpus)
    reason = "the service was taken apart; " * 60
    found = archive(corpus.store, target, reason, Provenance("s-1"))
    assert corpus.changed() == [f"A\t{found.archived}", f"D\t{target}"]
    metas = corpus.metas(found.archived)
    assert (metas["memhtml-status"], metas["memhtml-archived"]) == ("archived", "2026-05-28T20:26:40Z")
    assert BY not in metas
    assert len(metas["fabula-reason"]) <= 200
    message = corpus.message()
    assert len(message.splitlines()[0]) <= len("memhtml(archive): ") + 72
    assert reason.strip() in message
    assert "Memhtml-Session: s-1" in message
    with pytest.raises(FabulaError, match="in the archive") as refused:
        archive(corpus.store, found.archived, "again")
    assert refused.value.suggestions == (f"fabula memory unarchive {found.archived}",)


def test_a_path_is_archived_as_often_in_a_year_as_it_is_written_and_each_leads_back(corpus: Corpus) -> None:
    seen = []
    for size in (1, 2, 3):
        path = write(corpus.store, claim("Pool", f"The pool is {size}.", path="areas/x/pool.html")).path
        seen.append(archive(corpus.store, path, "old").archived)
    assert seen == [
        "archive/2026/areas/x/pool.html",
        "archive/02026/areas/x/pool.html",
        "archive/002026/areas/x/pool.html",
    ]
    assert {original_path(path) for path in seen} == {"areas/x/pool.html"}
    assert {corpus.metas(path)["fabula-origin"] for path in seen} == {"areas/x/pool.html"}


def test_a_hand_aligned_file_keeps_its_lines_in_the_archive(corpus: Corpus) -> None:
    path = "areas/x/hand.html"
    text = corpus.data(write(corpus.store, claim("Hand", path=path)).path).decode()
    aligned = text.replace('<meta name="memhtml-type"    ', "").replace(
        '<meta name="memhtml-type" content', '  <!-- mine -->\n  <meta   name="memhtml-type"    content'
    )
    corpus.person.write(path, aligned.replace("\n", "\r\n"))
    corpus.person.git("commit", "-qam", "aligned")
    there = archive(corpus.store, path, "old").archived
    kept = set(corpus.data(there).split(b"\r\n"))
    assert {b"  <!-- mine -->", b'  <meta   name="memhtml-type"    content="semantic">'} <= kept
    assert len(set(aligned.encode().split(b"\n")) - kept) <= 2


def test_what_was_archived_comes_back_as_it_was(corpus: Corpus) -> None:
    target = pool(corpus)
    before = corpus.data(target)
    there = archive(corpus.store, target, "by mistake").archived
    back = unarchive(corpus.store, there, "it holds after all")
    assert (back.path, back.archived) == (target, there)
    assert corpus.data(target) == before
    assert corpus.message().startswith(f"memhtml(unarchive): {target}\n\nit holds after all")
    with pytest.raises(FabulaError, match="not in the archive"):
        unarchive(corpus.store, target)


def test_nothing_comes_back_over_another_memory(corpus: Corpus) -> None:
    target = pool(corpus)
    there = archive(corpus.store, target, "old").archived
    write(corpus.store, claim("Other", "The pool is 1.", path=target))
    with pytest.raises(Occupied):
        unarchive(corpus.store, there)
    assert unarchive(corpus.store, there, to="areas/x/pool.html").path == "areas/x/pool.html"
    there = archive(corpus.store, "areas/x/pool.html", "old").archived
    again = write(corpus.store, claim("Again", "The pool is 64.")).path
    with pytest.raises(FabulaError, match="states this already") as refused:
        unarchive(corpus.store, there)
    assert refused.value.suggestions == (f"fabula memory read {again}",)


def test_what_was_superseded_comes_back_once_its_successor_is_out_of_use(corpus: Corpus) -> None:
    target = pool(corpus)
    found = correct(corpus.store, Correction(target, claim="The pool is 128."))
    assert found.archived is not None
    with pytest.raises(FabulaError, match="took its place"):
        unarchive(corpus.store, found.archived)
    archive(corpus.store, found.path, "wrong")
    back = unarchive(corpus.store, found.archived)
    metas = corpus.metas(back.path)
    assert not {BY, UNTIL, "memhtml-archived", "fabula-origin", "fabula-reason"} & metas.keys()


# ── supersede ───────────────────────────────────────────────────────
def test_pairs_are_one_commit_and_no_pair_is_none(corpus: Corpus) -> None:
    head = corpus.head()
    assert supersede(corpus.store, []).commit is None
    one, two, three = (write(corpus.store, claim(f"P{n}", f"The pool is {n}.")).path for n in (1, 2, 3))
    with pytest.raises(FabulaError) as refused:
        supersede(corpus.store, [Pair(one, two), Pair(one, "areas/none.html")])
    assert refused.value.code == "ERR_NO_MEMORY"
    count = corpus.commits()
    found = supersede(corpus.store, [Pair(three, two), Pair(two, one)], "counted")
    assert corpus.commits() == count + 1
    assert head != found.base
    archived = dict(found.archived)
    assert set(archived) == {one, two}
    assert corpus.metas(archived[one])[BY] == f"/{archived[two]}"
    assert corpus.metas(archived[two])[BY] == f"/{three}"
    assert [link.href for link in corpus.reading(archived[two]).links] == [f"/{archived[one]}"]
    assert corpus.message().startswith("memhtml(consolidate): 2 memories superseded\n\ncounted")
    assert corpus.is_clean()


@pytest.mark.parametrize("pairs", [((0, 0),), ((0, 1), (1, 0)), ((0, 1), (2, 1)), ((0, 1), (1, 2), (2, 0)), ((3, 0),)])
def test_a_memory_loses_once_never_to_itself_and_never_to_a_task(
    corpus: Corpus, pairs: tuple[tuple[int, int], ...]
) -> None:
    paths = [write(corpus.store, claim(f"P{n}", f"The pool is {n}.")).path for n in range(3)]
    paths.append(write(corpus.store, NewMemory("Do", "task", claim="Do it.")).path)
    before = corpus.digest()
    with pytest.raises(FabulaError) as refused:
        supersede(corpus.store, [Pair(paths[one], paths[other]) for one, other in pairs])
    assert refused.value.code == "ERR_USAGE"
    assert corpus.digest() == before


@pytest.mark.parametrize(
    "origin", ["README2.html", "../out.html", ".gitmodules", ".fabula/state/a/x.html", "archive/2020/x.html", "areas/"]
)
def test_an_origin_that_is_no_place_of_a_memory_leads_nowhere(corpus: Corpus, origin: str) -> None:
    path = write(corpus.store, claim("Pool", "The pool ceiling is 64.")).path
    there = archive(corpus.store, path, "not so").archived
    data = corpus.data(there).replace(
        f'name="fabula-origin" content="{path}"'.encode(), f'name="fabula-origin" content="{origin}"'.encode()
    )
    assert f'content="{origin}"'.encode() in data
    corpus.person.write(there, data.decode())
    corpus.person.git("commit", "--quiet", "--all", "--message", "a head may say anything")
    assert unarchive(corpus.store, there).path == path
