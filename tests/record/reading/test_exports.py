"""Exports hold everything, labelled, and nothing in them acts."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading_builders import Corpus, loaded, result, text

from fabula.record.reading.document import Document
from fabula.record.reading.html import to_html
from fabula.record.reading.markdown import fenced, inert_markdown, to_markdown
from fabula.record.reading.turns import view_thread

HOSTILE = """</pre><script>alert(1)</script><img src=x onerror=alert(1)>"'`` ```\n</style>\x1b[31m\u202eevil"""


def document(*records: object, title: str = "A title") -> Document:
    view = view_thread("p1", "s", list(records), redact=lambda words: words) if records else Corpus().view()  # type: ignore[arg-type]
    return Document(title, (("Session", "session-1"), ("Branch", "")), (view,))


def test_markdown_holds_every_part_under_its_label() -> None:
    out = to_markdown(document())
    assert out.startswith("# A title\n\n- Session: session-1\n\n## Thread p1\n")
    for words in (
        "Why does the zigzag pivot fail?", "> look first", "**Call** `Bash`\n\n```\ncommand: pytest -q zigzag\n```",
        "trace line\n" * 400, "*[image]*", "### Edit-branch (abandoned retry)", "an attempt that was given up",
        "### Sidechain (subagent agent-7, started by t1)", "explore the pivots", "*Made with Fabula.*",
    ):  # fmt: skip
        assert words in out
    assert "Branch" not in out


def test_html_is_one_page_with_every_part_and_a_policy_that_forbids_everything() -> None:
    out = to_html(document())
    assert out.startswith("<!doctype html>")
    assert "default-src &#x27;none&#x27;" in out
    for words in (
        "zigzag pivot fail?",
        "pytest -q zigzag",
        "Edit-branch",
        "given up",
        "Sidechain",
        "explore",
        "[image]",
    ):
        assert words in out


def test_exports_of_the_same_record_are_the_same_bytes() -> None:
    assert to_html(document()) == to_html(document())
    assert to_markdown(document()) == to_markdown(document())


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, tuple[str, ...]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, tuple(name for name, _ in attrs)))


def test_hostile_text_adds_no_element_and_no_attribute_to_the_page() -> None:
    def shape(words: str) -> list[tuple[str, tuple[str, ...]]]:
        parser = Tags()
        parser.feed(
            to_html(document(loaded("a", "prompt", text(words)), loaded("b", "result", result(words)), title=words))
        )
        return parser.seen

    assert shape(HOSTILE) == shape("harmless")
    assert not {"script", "img", "link", "iframe"} & {tag for tag, _ in shape(HOSTILE)}


def test_the_style_of_the_page_matches_the_hash_in_its_policy() -> None:
    from base64 import b64encode
    from hashlib import sha256

    out = to_html(document())
    style = re.search(r"<style>(.*?)</style>", out, re.DOTALL)
    assert style is not None
    assert b64encode(sha256(style[1].encode()).digest()).decode() in out


def test_control_and_direction_characters_are_made_visible_in_html() -> None:
    out = to_html(document(loaded("a", "prompt", text(HOSTILE))))
    assert "\x1b" not in out
    assert "\u202e" not in out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("a <script>x</script>", "a &lt;script>x&lt;/script>"),
        ("if a < b", "if a < b"),
        ("see `<div>` and <div>", "see `<div>` and &lt;div>"),
        ("```\n<div>\n```\n<div>", "```\n<div>\n```\n&lt;div>"),
        ("```\n<div>", "```\n<div>\n```"),
        ("`a\nb` <script> `", "`a\nb` &lt;script> `"),
        ("\\`<script>`", "\\`&lt;script>`"),
        ("- a\n  ```\n<script>", "- a\n  ```\n&lt;script>"),
        ("[x](javascript:alert(1))", "[x](#javascript:alert(1))"),
    ],
)
def test_html_in_markdown_is_disarmed_outside_of_code_alone(words: str, expected: str) -> None:
    assert inert_markdown(words) == expected


@given(st.text(alphabet="`a\n", max_size=40))
def test_nothing_inside_closes_a_fence(words: str) -> None:
    block = fenced(words)
    fence = block.split("\n", 1)[0]
    assert all(not line.startswith(fence) for line in words.split("\n"))


def test_a_failed_result_says_so() -> None:
    doc = document(loaded("b", "result", result("boom", failed=True)))
    assert "**Result** (failed)" in to_markdown(doc)
    assert 'class="result failed"' in to_html(doc)
