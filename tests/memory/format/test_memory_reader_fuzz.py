"""Whatever stands in a file: reading answers, every finding has a place, what is read is written and read alike."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memories import LEDGER, articles, page

from fabula.kernel.errors import FabulaError
from fabula.memory.format.document import write
from fabula.memory.format.edit import add_link, read_meta, set_meta
from fabula.memory.format.findings import GROUPS
from fabula.memory.format.reader import Reading, read
from fabula.memory.format.source import Source

PIECES = (
    "<p>|</p>|<b>|</b>|<table>|<tr>|<td>|</table>|<svg>|</svg>|<math>|<title>|</title>|<pre>\n\n|<textarea>|<!-- |-->"
    "|<![CDATA[x]]>|&amp;|&nbsp;|&copy|&notit;|\r\n|\r|\x0c|<a href=x>|<li>|<ul>|</ul>|<dd>|<dt>|<mark>|</mark>"
    "|<article>|</article>|</body>|</html>|<head>|</head>|<form>|<button>|<br>|</br>|<hr>|<img src=x onerror=y>"
    "|<frameset>|<?|<!x|<|</|<A HREF=X a=1 A=2>|\"|'|=|/|é|\U0001f600|&#0;|&#x80;|&#55296;|\xa0|\u2028|\0|\ufeff"
    "|<meta name=memhtml-tag content=x>|<meta name=memhtml-due content=2026-02-30>|<link rel=memhtml-x href=y>"
    "|<time datetime=2026-01-01>|<details>|<aside>|<div>|<span>|<script>|</script>|<style>|<template>|</template>"
    "|<select>|<option>|<noscript>|<plaintext>|<base href=x>| onclick=x| class=y|<q cite=z>"
).split("|")
BAD_BYTES = (b"\xff", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xf0\x9f\x98")


def mutated(source: random.Random) -> bytes:
    data = source.choice([LEDGER, LEDGER.replace(b"\n", b"\r\n"), page()])
    pieces = [*(piece.encode() for piece in PIECES), *BAD_BYTES]
    for _ in range(source.randint(1, 8)):
        at, what = source.randrange(len(data) + 1), source.random()
        if what < 0.6:
            data = data[:at] + source.choice(pieces) + data[at:]
        elif what < 0.8:
            data = data[:at] + data[at + source.randint(1, 30) :]
        else:
            other = source.randrange(len(data) + 1)
            data = data[:at] + data[other : other + 40] + data[at:]
    return data


def take_everything(reading: Reading) -> None:
    """Ask a reading for all it can say, and look at its findings."""
    for value in (reading, reading.content):
        for name in (name for name, part in vars(type(value)).items() if isinstance(part, property)):
            if name not in {"head", "document"} or reading.is_memory:
                getattr(value, name)
    assert reading.content_hash.startswith("sha256:")
    assert reading.fact_hash.startswith("sha256:")
    length = len(reading.source.data)
    for finding in [*reading.violations, *reading.warnings]:
        assert finding.group in GROUPS
        assert finding.message
        assert finding.fix
        assert finding.place.line >= 1
        assert finding.place.column >= 1
        assert 0 <= finding.place.byte <= length


@pytest.mark.parametrize("seed", range(200))
def test_no_file_is_too_broken_to_be_read(seed: int) -> None:
    data = mutated(random.Random(seed))
    reading = read(data)
    take_everything(reading)
    if reading.is_memory and b"<plaintext" not in data:  # which HTML itself cannot write
        again = read(write(reading.document))
        assert again.violations == []
        assert again.document == reading.document
        assert again.content_hash == reading.content_hash
        assert again.fact_hash == reading.fact_hash


@pytest.mark.parametrize("seed", range(200))
def test_an_edit_of_a_broken_head_leaves_the_article_or_is_refused(seed: int) -> None:
    data = mutated(random.Random(seed + 10_000))
    before = read(data)
    for edit in (lambda: set_meta(data, "memhtml-turn", "t-1"), lambda: add_link(data, "supports", "areas/z.html")):
        try:
            after = edit()
        except FabulaError:
            assert not before.is_memory or b"<head>" not in data
            continue
        assert read(after).article_bytes == before.article_bytes
        assert read(after).content_hash == before.content_hash
        assert read(after).is_memory == before.is_memory
        assert after == data or read_meta(after, "memhtml-turn") == "t-1" or b"/areas/z.html" in after


@given(st.binary(max_size=200))
def test_any_bytes_are_read(data: bytes) -> None:
    take_everything(read(data))


@given(st.lists(st.sampled_from([*PIECES, "x", "\n", " "]), max_size=30).map("".join))
def test_any_markup_is_read(markup: str) -> None:
    take_everything(read(markup.encode()))


@given(
    st.lists(
        st.sampled_from([b"a", b"\r\n", b"\r", b"\n", "é".encode(), "\U0001f600".encode(), *BAD_BYTES]), max_size=30
    ).map(b"".join)
)
def test_every_place_of_a_text_leads_back_to_its_byte(data: bytes) -> None:
    source = Source(data)
    bytes_of = [source.byte(at) for at in range(len(source.text) + 1)]
    assert bytes_of == sorted(bytes_of)
    assert bytes_of[-1] == len(data)
    for at, letter in enumerate(source.text):
        piece = data[bytes_of[at] : bytes_of[at + 1]]
        expected = piece.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
        assert expected == letter


@given(articles)
def test_memories_that_keep_to_the_format_are_read_without_a_word(markup: str) -> None:
    reading = read(page(markup))
    assert reading.violations == []
    take_everything(reading)
