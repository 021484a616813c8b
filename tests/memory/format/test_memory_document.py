"""The canonical file: reading what was written, writing what was read."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from memories import CLAIM, LEDGER, articles, documents, page

from fabula.memory.format.content import Facet
from fabula.memory.format.document import Document, canonical_markup, write
from fabula.memory.format.entities import parse_entity
from fabula.memory.format.head import confidence_text
from fabula.memory.format.placement import Placed, path_for
from fabula.memory.format.reader import read
from fabula.memory.format.vocabulary import META_RANK


@given(documents())
def test_what_is_written_reads_as_the_same_memory(document: Document) -> None:
    reading = read(write(document))
    assert reading.violations == []
    assert reading.document == document
    assert write(reading.document) == write(document)


@given(articles)
def test_writing_an_article_again_changes_nothing(markup: str) -> None:
    once = canonical_markup(markup)
    again = once
    for _ in range(5):
        again = canonical_markup(again)
    assert again == once


def test_the_ledger_memory_is_canonical_byte_for_byte() -> None:
    assert write(read(LEDGER).document) == LEDGER


def test_a_head_has_one_line_for_each_thing_and_metas_in_order() -> None:
    metas = re.findall(r'<meta name="([^"]*)" content="[^"]*">\n', LEDGER.decode())
    shuffled = re.sub(r"(<meta name.*?>\n)(?=<meta name)", "", LEDGER.decode())  # only the last is left
    moved = shuffled.replace(
        "</head>",
        "".join(
            f'<meta content="{value}" name="{name}">'
            for name, value in reversed(re.findall(r'<meta name="([^"]*)" content="([^"]*)">', LEDGER.decode())[:-1])
        )
        + "</head>",
    )
    data = write(read(moved.encode()).document)
    names = re.findall(r'^<meta name="([^"]*)" content="[^"]*">$', data.decode(), re.MULTILINE)
    assert names == metas == sorted(metas, key=META_RANK.__getitem__)
    lines = data.decode().split("\n")
    assert data.endswith(b"</html>\n")
    assert max(i for i, line in enumerate(lines) if "<meta" in line) < min(
        i for i, line in enumerate(lines) if "<link" in line
    )


def test_the_order_of_attributes_is_that_of_their_names() -> None:
    one = '<p><mark>x</mark></p><p><a title="t" href="/a.html" lang="en">y</a></p>'
    two = '<p><mark>x</mark></p><p><a lang="en" href="/a.html" title="t">y</a></p>'
    assert canonical_markup(one) == canonical_markup(two)


@pytest.mark.parametrize(
    ("markup", "written"),
    [
        ("<p>3 < 5 && 7 > 2</p>", "<p>3 &lt; 5 &amp;&amp; 7 &gt; 2</p>"),
        ("<p>a\xa0b &nbsp;</p>", "<p>a&nbsp;b &nbsp;</p>"),
        ("<p title='a\"b&c<d'>x</p>", '<p title="a&quot;b&amp;c<d">x</p>'),
        ("<p>a<br>b<hr>", "<p>a<br>b</p><hr>"),
        ("<p>a<!-- kept --></p>", "<p>a<!-- kept --></p>"),
        ("<table><tr><td>x</table>", "<table><tbody><tr><td>x</td></tr></tbody></table>"),
        ("<pre>\n\nx</pre>", "<pre>\n\nx</pre>"),
        ("<pre>\nx</pre>", "<pre>x</pre>"),
        ("<p>a&#13;b</p>", "<p>a&#13;b</p>"),
    ],
)
def test_markup_is_written_in_one_way(markup: str, written: str) -> None:
    assert canonical_markup(markup) == written
    assert canonical_markup(written) == written


def test_marks_of_markup_in_heads_come_back() -> None:
    given = page(
        title='<title>a &lt;b> &amp; "c"</title>',
        head='<link rel="memhtml-supports" href="/a&amp;b.html">',
        author="a&quot;b",
    )
    reading = read(given)
    again = read(write(reading.document))
    assert again.title == 'a <b> & "c"'
    assert again.head.author == 'a"b'
    assert again.links[0].href == "/a&b.html"
    assert again.document == reading.document


@pytest.mark.parametrize(
    ("number", "text"), [(0.9, "0.90"), (1.0, "1.00"), (0.0, "0.00"), (0.895, "0.895"), (0.123456, "0.123456")]
)
def test_a_confidence_has_two_decimals_or_as_many_as_it_needs(number: float, text: str) -> None:
    assert confidence_text(number) == text


def test_values_of_heads_are_written_in_one_way() -> None:
    data = write(read(page(CLAIM, confidence="0.9", importance="8.0", needs_revision="yes")).document).decode()
    for line in ('confidence" content="0.90"', 'importance" content="8"', 'needs-revision" content="true"'):
        assert line in data


def test_a_file_with_other_line_ends_is_the_same_memory() -> None:
    for data in (LEDGER.replace(b"\n", b"\r\n"), LEDGER.replace(b"\n", b"\r"), b"\xef\xbb\xbf" + LEDGER):
        reading = read(data)
        assert reading.is_memory
        assert reading.document == read(LEDGER).document


def test_a_domain_of_its_own_needs_no_new_code() -> None:
    """The five open axes: facets, tags, types of entities, workspaces, paths take any value."""
    given = page(
        f'{CLAIM}<dl><dt>soil pH</dt><dd><data value="6.5">slightly sour</data></dd><dt>発芽</dt><dd>12 日</dd></dl>',
        entity="cultivar:San Marzano",
        tag="greenhouse/2",
    )
    reading = read(given)
    assert reading.warnings == []
    assert [str(parse_entity(entity)) for entity in reading.head.entities] == ["cultivar:San Marzano"]
    assert reading.head.tags == ("greenhouse/2",)
    assert reading.content.facets == [Facet("soil pH", "slightly sour", 6.5), Facet("発芽", "12 日", None)]
    at = datetime(2026, 5, 14, tzinfo=UTC)
    assert path_for(Placed("semantic", workspace="North Garden"), "pH", at) == "projects/north-garden/ph.html"
    assert path_for(Placed("semantic", path="areas/beds/3/ph.html"), "pH", at) == "areas/beds/3/ph.html"
    assert read(write(reading.document)).document == reading.document
