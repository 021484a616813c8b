"""What is taken out of an article, and the two hashes over it."""

from __future__ import annotations

import pytest
from hypothesis import given
from memories import CLAIM, LEDGER, LEDGER_HASH, articles, page

from fabula.memory.format.canonical import content_hash_of_markup, is_hash
from fabula.memory.format.content import Citation, Content, Facet
from fabula.memory.format.document import canonical_markup
from fabula.memory.format.reader import read


def content(article: str) -> Content:
    return read(page(article)).content


def hash_of(article: str) -> str:
    return read(page(article)).content_hash


# ── content ─────────────────────────────────────────────────────────
def test_the_ledger_memory_says_what_it_says() -> None:
    reading = read(LEDGER)
    found = reading.content
    assert found.claim == (
        "Pause WAL replay on the ledger replica before pg_dump; stopping the server makes the export fail."
    )
    assert found.event_at == "2026-05-13"
    assert found.facets == [
        Facet("Applies to", "PostgreSQL 15 hot standby", None),
        Facet("Pause window", "forty minutes at most", 40.0),
    ]
    assert found.citations == [Citation("ledger incident 212", None, is_quote=False)]
    assert (found.languages, found.summaries, found.captions) == (
        ["sql"],
        ["Why stopping fails"],
        ["Pause, dump, resume."],
    )
    assert reading.head.entities == ("service:ledger-db", "tool:pg_dump")
    assert [link.rel for link in reading.links] == ["memhtml-caused-by", "memhtml-supersedes"]


def test_the_head_is_no_part_of_the_body() -> None:
    assert content(CLAIM).body == "Drain first."


def test_blocks_are_parted_by_a_space_and_lines_are_not_broken() -> None:
    assert "Applies to ALB" in content(f"{CLAIM}<dl><dt>Applies to</dt><dd>ALB</dd></dl>").body
    assert content("<p><mark>Run <code>ls</code> first</mark>.</p>").body == "Run ls first."


def test_code_inside_of_a_claim_is_part_of_it() -> None:
    found = content("<p><mark>Run <code>ls -l</code> first</mark>.</p>")
    assert found.claim == "Run ls -l first"


def test_the_first_time_is_when_it_happened() -> None:
    first = '<p><time datetime="2026-01-02">x</time><time datetime="2026-01-01">y</time></p>'
    assert content(CLAIM + first).event_at == "2026-01-02"
    assert content(CLAIM).event_at is None


def test_a_value_belongs_to_the_name_before_it() -> None:
    listed = "<dl><dd>orphan</dd><dt>a</dt><dd>1</dd><dd>2</dd><div><dt>b</dt><dd>3</dd></div></dl>"
    assert content(CLAIM + listed).facets == [Facet("a", "1", None), Facet("a", "2", None), Facet("b", "3", None)]


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("120", 120.0),
        (" 1.5e2 ", 150.0),
        ("soon", None),
        ("", None),
        ("inf", None),
        ("nan", None),
        ("1_000", None),
        ("٣", None),
    ],
)
def test_a_number_for_machines_is_a_finite_one(value: str, number: float | None) -> None:
    listed = f'<dl><dt>a</dt><dd>x <data value="{value}">v</data></dd></dl>'
    assert content(CLAIM + listed).facets == [Facet("a", "x v", number)]


def test_the_first_number_of_a_value_counts() -> None:
    listed = '<dl><dt>a</dt><dd><data value="x">1</data><data value="2">2</data><data value="3">3</data></dd></dl>'
    assert content(CLAIM + listed).facets[0].number == 2.0


def test_works_and_quotations_come_in_order() -> None:
    said = '<p><q cite="https://x.org">said</q> <cite>a book</cite> <q></q><cite> </cite> <q>more</q></p>'
    assert content(CLAIM + said).citations == [
        Citation("said", "https://x.org", is_quote=True),
        Citation("a book", None, is_quote=False),
        Citation("more", None, is_quote=True),
    ]


def test_terms_asides_abbreviations_and_anchors_are_found() -> None:
    found = content(
        f'{CLAIM}<p><dfn>lease</dfn> <abbr title="write-ahead log">WAL</abbr> <abbr>x</abbr></p>'
        '<p><a href="/a.html">y</a></p><aside>by the way</aside><pre><code data-lang=" SQL ">x</code></pre>'
    )
    assert found.terms == ["lease"]
    assert found.expansions == [("WAL", "write-ahead log")]
    assert found.links == ["/a.html"]
    assert found.asides == ["by the way"]
    assert found.languages == ["sql"]


def test_what_is_folded_away_is_found_but_not_open() -> None:
    found = content(f"{CLAIM}<details><summary>why</summary><p>because</p></details><aside>note</aside><p>end</p>")
    assert found.body == "Drain first. why because note end"
    assert found.open_body == "Drain first. end"
    assert found.summaries == ["why"]


def test_numbers_of_a_head_that_are_out_of_range_count_as_not_said() -> None:
    reading = read(page(confidence="1.5", importance="99", reprieves="-1", content_hash="as written"))
    assert reading.is_memory
    head = reading.head
    assert (head.confidence, head.importance, head.reprieves, head.content_hash) == (None, None, None, "as written")
    assert read(page(importance="7.5")).head.importance is None
    assert read(page(confidence="0.8951", importance="8", reprieves="2")).head.confidence == 0.8951


@pytest.mark.parametrize(
    ("said", "meant"), [("true", True), ("1", True), ("YES", True), ("false", False), ("x", False)]
)
def test_needing_revision_is_yes_or_no(said: str, meant: bool) -> None:
    assert read(page(needs_revision=said)).head.needs_revision is meant
    assert read(page()).head.needs_revision is None


def test_empty_values_of_lists_are_none() -> None:
    assert read(page(tag="", entity="")).head.tags == ()


# ── hashes ──────────────────────────────────────────────────────────
def test_the_hash_is_the_one_every_reader_computes() -> None:
    reading = read(LEDGER)
    assert reading.content_hash == LEDGER_HASH == reading.head.content_hash
    assert is_hash(LEDGER_HASH)
    assert content_hash_of_markup(reading.document.article) == LEDGER_HASH


@pytest.mark.parametrize(
    "text", ["sha256:zz", "1f4b9c", "md5:abc", LEDGER_HASH.upper(), "sha256:" + "A" * 64, LEDGER_HASH + "\n"]
)
def test_other_texts_are_no_hashes(text: str) -> None:
    assert not is_hash(text)


def test_the_hash_goes_with_the_words() -> None:
    assert hash_of(CLAIM) != hash_of("<p><mark>Drain last.</mark></p>")
    assert hash_of(CLAIM) != hash_of(f"{CLAIM}<p>More.</p>")


@pytest.mark.parametrize(
    "same",
    [
        "<p>\n  <mark>Drain\tfirst.</mark>\n</p>",
        "\n\n<section><p><mark>Drain   first.</mark></p></section> ",
        "<p><mark><strong>Drain</strong> first.</mark></p><!-- said -->",
        '<p lang="en"><mark>Drain first.</mark></p>',
        "<ul><li><mark>Drain first.</mark></ul>",
        "\u2003<p><mark>Drain first.</mark></p>\u3000\n",
    ],
)
def test_the_hash_does_not_see_markup_and_indentation(same: str) -> None:
    assert hash_of(same) == hash_of(CLAIM)


def test_a_no_break_space_is_content() -> None:
    assert hash_of("<p><mark>Drain&nbsp;first.</mark></p>") != hash_of(CLAIM)


@pytest.mark.parametrize("other", ["a b", "a\nb", " a  b", "\na  b", "a  b\n", "a  b "])
def test_code_that_stands_by_itself_keeps_its_spaces(other: str) -> None:
    # the parser drops one newline at the beginning of <pre>, so the first example has one more
    assert hash_of(f"{CLAIM}<pre>\n{other}</pre>") != hash_of(f"{CLAIM}<pre>\na  b</pre>")


def test_values_for_machines_are_facts_of_their_own() -> None:
    forty = read(page(f'{CLAIM}<p><data value="40">forty</data></p>'))
    four = read(page(f'{CLAIM}<p><data value="4">forty</data></p>'))
    assert forty.content_hash == four.content_hash
    assert forty.fact_hash != four.fact_hash
    dated = [read(page(f'{CLAIM}<p><time datetime="2026-01-0{day}">then</time></p>')) for day in (1, 2)]
    assert dated[0].fact_hash != dated[1].fact_hash


def test_without_values_for_machines_both_hashes_are_one() -> None:
    reading = read(page())
    assert reading.fact_hash == reading.content_hash


@given(articles)
def test_both_hashes_survive_writing(markup: str) -> None:
    one, two = read(page(markup)), read(page(canonical_markup(markup)))
    assert (one.content_hash, one.fact_hash) == (two.content_hash, two.fact_hash)
    assert content_hash_of_markup(markup) == one.content_hash
