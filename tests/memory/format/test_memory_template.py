"""The doors to a new memory: prose and markup, fences, languages; and the gate in front of every write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memories import AT, CLAIM, articles, lines, texts

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import replace
from fabula.memory.format import gate
from fabula.memory.format.document import write
from fabula.memory.format.fences import Fence, claim_and_rest, paragraphs, parse_fence
from fabula.memory.format.head import Link
from fabula.memory.format.language import LANGUAGES, detect, guess
from fabula.memory.format.reader import read
from fabula.memory.format.template import Draft, document_of, prose_markup

DRAFT = Draft(title="A title", type="semantic", at=AT, claim="Drain first.")


def written(**changes: object) -> str:
    """Return the file that a draft becomes."""
    return gate.render(document_of(replace(DRAFT, **changes))).decode()


# ── the doors ───────────────────────────────────────────────────────
def test_a_draft_becomes_an_active_memory_with_its_hash() -> None:
    reading = read(written().encode())
    head = reading.head
    assert (head.status, head.created, head.updated, head.content_hash) == ("active", AT, AT, reading.content_hash)
    assert reading.warnings == []


@given(st.lists(texts, max_size=4), lines, st.lists(lines, max_size=2))
def test_any_prose_becomes_a_memory_that_reads_as_it_was_written(body: list[str], claim: str, tags: list[str]) -> None:
    data = write(document_of(replace(DRAFT, claim=claim, body=body, tags=tags)))
    reading = read(data)
    if reading.is_memory:  # a claim of nothing but strange spaces is none
        assert write(reading.document) == data
        assert " ".join(reading.content.claim.split()) == " ".join(claim.split())
    else:
        assert [finding.group for finding in reading.violations] == ["mark"]


@given(articles)
def test_any_markup_that_keeps_to_the_format_is_taken(markup: str) -> None:
    document = document_of(replace(DRAFT, article_html=markup))
    reading = read(write(document))
    assert reading.document == document
    assert reading.content_hash == document.head.content_hash


def test_a_claim_is_never_markup() -> None:
    text = written(claim="Never paste <script>alert(1)</script> & co")
    assert "<mark>Never paste &lt;script&gt;alert(1)&lt;/script&gt; &amp; co</mark>" in text


def test_the_first_paragraph_goes_on_behind_the_claim() -> None:
    assert prose_markup(" Claim. ", ["tail", "  ", "second"]) == "<p><mark>Claim.</mark> tail</p>\n<p>second</p>"


def test_markup_is_taken_as_it_is_and_blank_markup_is_none() -> None:
    assert "<dt>a</dt>" in written(article_html=f"{CLAIM}<dl><dt>a<dd>b</dl>")
    assert written(article_html="  \n ") == written()
    with pytest.raises(FabulaError, match="no <mark>"):
        written(article_html="<p>x</p>")


def test_the_same_draft_is_the_same_file_and_metas_do_not_move_the_hash() -> None:
    assert written() == written()
    one, two = document_of(DRAFT), document_of(replace(DRAFT, title="Other", tags=["x"], due="2026-08-01"))
    assert one.head.content_hash == two.head.content_hash


def test_only_a_task_has_a_state() -> None:
    assert document_of(replace(DRAFT, type="task")).head.task_status == "todo"
    assert document_of(replace(DRAFT, type="task", task_status="blocked")).head.task_status == "blocked"
    assert document_of(replace(DRAFT, task_status="doing")).head.task_status is None


def test_values_of_heads_stand_on_one_line_and_once() -> None:
    head = document_of(replace(DRAFT, session="a\n<meta>\tb", tags=["x", " x ", "", "y\x00"], reason=" ")).head
    assert (head.session, head.tags, head.reason) == ("a <meta> b", ("x", "y"), None)


def test_our_own_metas_stand_behind_those_of_the_format() -> None:
    text = written(tags=["x"], reason="was wrong", origin="areas/inbox/a.html", cites=["r1 sha256:00"])
    rows = [row.split('"')[1] for row in text.split("\n") if row.startswith("<meta name")]
    assert rows[-4:] == ["memhtml-tag", "fabula-origin", "fabula-reason", "fabula-cite"]


# ── fences ──────────────────────────────────────────────────────────
def test_fenced_code_is_kept_exactly() -> None:
    code = "def f():\n\n    return '<b>'  "
    text = written(body=[f"```python\n{code}\n```"])
    assert '<p><mark>Drain first.</mark></p>\n<figure><pre><code data-lang="python">def f()' in text
    assert "    return '&lt;b&gt;'  </code></pre></figure>" in text
    assert read(text.encode()).content.text.endswith(code)


@given(st.text(st.characters(exclude_categories=("Cs", "Cc"), include_characters="\n\t"), min_size=1, max_size=60))
def test_any_code_survives_its_fence(code: str) -> None:
    code = code.replace("`", "'")
    fenced = f"```text\n{code}\n```"
    assert parse_fence(fenced) == Fence(code, "text")
    assert read(written(body=[fenced]).encode()).content.text == f"Drain first. {code}"


@pytest.mark.parametrize(
    ("info", "language"),
    [
        ("TypeScript title=x.ts", "typescript"),
        ("", None),
        ("<script>alert(1)", None),
        *[(name, name) for name in ("c++", "c#", "objective-c", "python3", "f90", "ts")],
    ],
)
def test_the_first_word_names_the_language(info: str, language: str | None) -> None:
    assert parse_fence(f"```{info}\nx\n```") == Fence("x", language)


@pytest.mark.parametrize(
    "text", ["```\nx", "````\nx\n```", "```\nx\n``` y", "``\nx\n``", "```", "x\n```\ny\n```", "```a`b\nx\n```"]
)
def test_what_is_not_closed_is_no_fence(text: str) -> None:
    assert parse_fence(text) is None
    assert "`" in prose_markup("Claim.", [text])


def test_a_longer_closer_closes() -> None:
    assert parse_fence("  ```sql\n  x\n  `````  ") == Fence("  x", "sql")


# ── prose ───────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("text", "claim", "rest"),
    [
        ("First. Second.", "First.", ["Second."]),
        ("No end", "No end", []),
        ("Use v1.2 now! Then\n\nmore", "Use v1.2 now!", ["Then", "more"]),
        ("Two\nlines? yes", "Two\nlines?", ["yes"]),
        ("A.", "A.", []),
    ],
)
def test_the_first_sentence_is_the_claim(text: str, claim: str, rest: list[str]) -> None:
    found, others = claim_and_rest(text)
    assert (found, [other.strip() for other in others]) == (claim, rest)


def test_blank_lines_part_paragraphs_but_not_code() -> None:
    text = "one\ntwo\n\n\n```py\na\n\nb\n```\nthree\n \nfour ``` five\n\n````\nopen\n\n```\nto the end"
    assert paragraphs(text) == [
        "one\ntwo",
        "```py\na\n\nb\n```",
        "three",
        "four ``` five",
        "````\nopen\n\n```\nto the end",
    ]


# ── languages ───────────────────────────────────────────────────────
SAMPLES = {
    "python": "import os\n\ndef walk(top):\n    for name in os.listdir(top):\n        yield name",
    "bash": 'set -eu\nfor f in *.log; do\n  gzip "$f"\ndone\nexport PATH=/usr/local/bin:$PATH',
    "json": '{\n  "name": "x",\n  "items": [1, 2],\n  "ok": true\n}',
    "sql": "SELECT id, name\nFROM users\nWHERE created > now()\nORDER BY id;",
    "yaml": "services:\n  web:\n    image: nginx\n    ports:\n      - 8080:80",
    "html": '<div id="x">\n  <p>Hello</p>\n</div>',
    "toml": '[project]\nname = "x"\nversion = "1.0"\n\n[tool.ruff]\nline-length = 120',
    "css": ".box {\n  color: red;\n  margin: 0 auto;\n}",
    "go": "package main\n\nfunc main() {\n\tx := 1\n\tif err != nil {\n\t\treturn\n\t}\n}",
    "rust": 'fn main() {\n    let mut x = 1;\n    println!("{}", x);\n    let y: u8 = f(&x)?;\n}',
    "javascript": "const fs = require('fs');\nmodule.exports = () => {\n  console.log(fs);\n};",
    "typescript": "interface User {\n  name: string;\n  age?: number;\n}\nconst f = (u: User): string => u.name;",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_clear_sample_is_named(language: str) -> None:
    assert detect(SAMPLES[language]) == language


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "hello",
        "the cat sat on the mat",
        "ok\nfine\nthen it was done",
        "x" * 5000,
        SAMPLES["python"] * 60,
        "::::",
        "#include <a.h>",
    ],
)
def test_what_is_not_clear_is_not_named(text: str) -> None:
    assert detect(text) is None


@given(st.text(max_size=200))
def test_a_guess_is_never_certain(text: str) -> None:
    found = guess(text)
    assert found is None or (0 <= found.confidence < 1 and found.language in LANGUAGES)


def test_the_author_names_the_language_whatever_the_code_looks_like() -> None:
    assert 'data-lang="ts"' in written(body=[f"```ts\n{SAMPLES['python']}\n```"])
    assert 'data-lang="python"' in written(body=[f"```\n{SAMPLES['python']}\n```"])
    assert "<pre><code>so it goes" in written(body=["```\nso it goes\n```"])


# ── the gate ────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    "markup",
    [
        '<img src="https://x.org/pixel.png">',
        "<blink>x</blink>",
        '<p><a href="javascript:alert(1)">x</a></p>',
        '<object data="x"></object>',
        "<svg></svg>",
        "<template><p>x</p></template>",
        '<table background="https://x.org/a.png"><tr><td>x</table>',
        "<script>x</script>",
        '<p onclick="x">y</p>',
        '<p class="x">y</p>',
        '<p><time datetime="2026-07-28T14:03+02:00">then</time></p>',
        "<noscript>x</noscript>",
        "<input autofocus>",
    ],
)
def test_nothing_that_acts_and_no_loose_time_is_written(markup: str) -> None:
    with pytest.raises(FabulaError) as refused:
        written(article_html=CLAIM + markup)
    assert refused.value.code == "ERR_MEMORY_FORMAT"
    assert refused.value.suggestions


@pytest.mark.parametrize(
    "markup", ["<h2>x</h2>", "<p>a<br>b</p>", "<blockquote>x</blockquote>", '<p><a href="https://x.org">x</a></p>']
)
def test_harmless_markup_that_is_strange_to_the_format_is_written(markup: str) -> None:
    assert markup in written(article_html=CLAIM + markup)


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "x" * 301},
        {"title": " \n"},
        {"claim": "x" * 2001},
        {"claim": "\xa0"},
        {"tags": [str(n) for n in range(65)]},
        {"links": [Link("memhtml-supports", f"/areas/{n}.html") for n in range(65)]},
        {"links": [Link("memhtml-supports", "/../x.html")]},
        {"session": "x" * 1001},
        {"body": ["x" * 300_000]},
        {"type": "folklore"},
        {"at": "2026-05-14T08:20"},
        {"due": "2026-07-28 14:03"},
        {"type": "task", "task_status": "wip"},
    ],
)
def test_everything_is_bounded_and_in_form(changes: dict[str, object]) -> None:
    with pytest.raises(FabulaError, match="not a memory that can be written"):
        written(**changes)


def test_a_refusal_says_the_better_time() -> None:
    with pytest.raises(FabulaError) as refused:
        written(due="2026-07-28T14:03+02:00")
    assert "write 2026-07-28T12:03:00Z" in refused.value.suggestions
