"""The rules of the format: what is wrong with a file, all of it, where, and in which order."""

from __future__ import annotations

import pytest
from memories import CLAIM, LEDGER, page

from fabula.memory.format.findings import GROUPS, joined
from fabula.memory.format.reader import read


def wrong(data: bytes) -> list[str]:
    return [finding.message for finding in read(data).violations]


def warned(data: bytes) -> list[str]:
    return [finding.message for finding in read(data).warnings]


def only(data: bytes, fragment: str) -> None:
    """Assert that one thing is wrong, and what."""
    messages = wrong(data)
    assert len(messages) == 1, messages
    assert fragment in messages[0]


def test_the_smallest_memory_and_a_rich_one_are_without_fault() -> None:
    for data in (page(), LEDGER):
        reading = read(data)
        assert (reading.violations, reading.warnings, reading.is_memory) == ([], [], True)


# ── article and mark ────────────────────────────────────────────────
def test_there_is_one_article_and_one_mark() -> None:
    only(page(""), "no <article>")
    only(page(f"<article>{CLAIM}</article><article>{CLAIM}</article>"), "2 <article> elements")
    only(page("<p>x</p>"), "no <mark>")
    only(page("<p><mark>a</mark><mark>b</mark></p>"), "2 <mark> elements")
    only(page("<article><p>x</p></article><mark>outside</mark>"), "no <mark>")


def test_the_mark_leads_the_article() -> None:
    only(page("<p>x</p><p><mark>late</mark></p>"), "not in the first <p>")
    only(page("<ul><li>x</li></ul><p><mark>late</mark></p>"), "not in the first <li>")
    only(page("<mark>bare</mark>"), "outside any <p> or <li>")
    for article in ("<ul><li><mark>a</mark></li></ul>", "<section><p>x <em><mark>a</mark></em></p></section>"):
        assert wrong(page(article)) == []


@pytest.mark.parametrize(
    "inside", ["", "  \n", "&nbsp;", "&#160;", "<code>x</code>", " <code>a</code>&nbsp;<pre>b</pre>", "<!-- x -->"]
)
def test_a_mark_says_something_besides_code(inside: str) -> None:
    assert "empty <mark>" in joined(read(page(f"<p><mark>{inside}</mark></p>")).violations)


def test_a_claim_may_hold_other_elements() -> None:
    reading = read(page("<p><mark>a <strong>big</strong> one</mark></p>"))
    assert reading.is_memory
    assert reading.content.claim == "a big one"


@pytest.mark.parametrize(
    ("article", "fold"),
    [
        ("<aside><p><mark>x</mark></p></aside>", "aside"),
        ("<details><p><mark>x</mark></p></details>", "details"),
        ("<details><summary><mark>x</mark></summary></details>", "details"),
        ("<p>x</p><aside><p><mark>x</mark></p></aside>", "aside"),
    ],
)
def test_a_claim_is_not_folded_away(article: str, fold: str) -> None:
    only(page(article), f"<mark> inside <{fold}>")


def test_an_article_that_is_folded_away_itself_counts() -> None:
    only(page(f"<aside><article>{CLAIM}</article></aside>"), "<mark> inside <aside>")


# ── times, presentation, links ──────────────────────────────────────
def test_times_are_times_wherever_they_stand() -> None:
    only(page(f"{CLAIM}<p><time>in July of a year that is not said here at all</time></p>"), "<time> without datetime")
    only(page(f'{CLAIM}<p><time datetime="July 28">x</time></p>'), "is not an ISO date")
    only(page(f'<article>{CLAIM}</article><time datetime="2026-13-45">x</time>'), "is not an ISO date")
    assert wrong(page(f'{CLAIM}<p><time datetime="2026-07-28T14:03+02:00">x</time></p>')) == []


@pytest.mark.parametrize(
    ("article", "fragment"),
    [
        ('<p class="x"><mark>a</mark></p>', "class attribute on <p>"),
        ('<p style="x"><mark>a</mark></p>', "style attribute on <p>"),
        ('<p onclick="x"><mark>a</mark></p>', "onclick handler on <p>"),
        (f"{CLAIM}<script>x</script>", "<script> is forbidden"),
        (f"{CLAIM}<style>x</style>", "<style> is forbidden"),
    ],
)
def test_a_memory_neither_runs_nor_dresses_up(article: str, fragment: str) -> None:
    only(page(article), fragment)


def test_a_script_in_the_head_is_one_too() -> None:
    only(page(head="<script>x</script>"), "<script> is forbidden")


@pytest.mark.parametrize(
    ("link", "fragment"),
    [
        ('<link rel="memhtml-mentions" href="/areas/x.html">', "outside the closed edge vocabulary"),
        ('<link rel="memhtml-supports" href="../areas/x.html">', "not repo-root-relative"),
        ('<link rel="memhtml-supports" href="https://x.org/a.html">', "not repo-root-relative"),
        ('<link rel="memhtml-supports">', "without href"),
        ('<link rel="memhtml-supports" href="">', "without href"),
    ],
)
def test_relations_lead_to_places_in_the_corpus(link: str, fragment: str) -> None:
    only(page(head=link), fragment)


def test_links_of_others_are_passed_over() -> None:
    assert wrong(page(head='<link rel="author" href="https://x.org">')) == []
    assert wrong(page(f'<article>{CLAIM}</article><link rel="memhtml-nonsense">')) == []


# ── metas ───────────────────────────────────────────────────────────
@pytest.mark.parametrize("name", ["type", "status", "created", "updated"])
def test_every_required_meta_is_named_when_it_is_missing(name: str) -> None:
    only(page(drop=name), f'missing required <meta name="memhtml-{name}">')


def test_the_title_is_there_once_and_says_something() -> None:
    only(page(title=""), "0 <title> elements")
    only(page(title="<title> \n</title>"), "empty <title>")
    only(page(title="<title>a</title><title>b</title>"), "2 <title> elements")


def test_the_vocabulary_of_metas_is_closed_and_others_are_passed_over() -> None:
    only(page(vibe="x"), "outside the closed metadata vocabulary")
    only(page(head='<meta name="memhtml-session" content="a"><meta name="memhtml-session" content="b">'), "2 times")
    assert wrong(page(head='<meta name="viewport" content="x"><meta name="fabula-of-tomorrow" content="x">')) == []
    repeated = '<meta name="memhtml-tag" content="a"><meta name="memhtml-tag" content="b">'
    assert read(page(head=repeated)).head.tags == ("a", "b")
    assert read(page()).head.aliases == ()


@pytest.mark.parametrize(
    ("metas", "fragment"),
    [
        ({"type": "folklore"}, "outside the type vocabulary"),
        ({"status": "draft"}, "neither active nor archived"),
        ({"type": "task"}, "a task requires"),
        ({"type": "task", "task_status": "wip"}, "todo, doing, blocked, done"),
        *[
            ({"type": kind, "task_status": "todo"}, "only a task carries one")
            for kind in ("semantic", "episodic", "arc")
        ],
        *[
            ({"type": "task", "task_status": "todo", "due": due}, "is not an ISO date")
            for due in ("next friday", "2026-13-45", "08/09/2026", "2026-08-09T25:00:00Z")
        ],
        ({"created": "yesterday"}, "memhtml-created"),
        ({"valid_until": ""}, "memhtml-valid-until"),
    ],
)
def test_closed_values_are_checked(metas: dict[str, str], fragment: str) -> None:
    only(page(**metas), fragment)


def test_a_task_needs_no_due_date() -> None:
    assert read(page(type="task", task_status="blocked")).head.due is None


# ── all at once, with places ────────────────────────────────────────
BROKEN = page(
    '<p class="x">a</p>\n<p><mark>b</mark> <time>c</time></p><script>d</script>',
    title="",
    head='<link rel="memhtml-x" href="/a.html">',
    type="folklore",
    vibe="x",
    drop="updated",
)


def test_everything_is_found_at_once_and_in_order() -> None:
    findings = read(BROKEN).violations
    assert [finding.group for finding in findings] == [
        *["head"] * 3, "mark", "times", *["presentation"] * 2, "links", "metas"
    ]  # fmt: skip
    order = [GROUPS.index(finding.group) for finding in findings]
    assert order == sorted(order)
    assert joined(findings).count("; ") == len(findings) - 1


def test_every_finding_says_where_and_what_to_do() -> None:
    for finding in read(BROKEN).violations:
        line = BROKEN.decode().splitlines()[finding.place.line - 1]
        assert BROKEN[finding.place.byte :].decode().startswith(line[finding.place.column - 1 :])
        assert finding.fix
        assert str(finding).startswith(f"{finding.place.line}:{finding.place.column}: ")


def test_a_finding_names_the_line_of_its_element() -> None:
    marks = read(page("<p>é</p>\n<p><mark>b</mark></p>").replace(b"\n", b"\r\n")).violations
    place = marks[0].place
    data = page("<p>é</p>\n<p><mark>b</mark></p>").replace(b"\n", b"\r\n")
    assert data[place.byte :].startswith(b"<mark>")
    assert (place.line, place.column) == (data[: place.byte].count(b"\n") + 1, 4)


@pytest.mark.parametrize("data", [b"", b"not html", b"\xff\xfe", b"<", b"<!--", b"\xef\xbb\xbf", b"\0" * 9])
def test_what_is_no_memory_is_said_to_be_none(data: bytes) -> None:
    assert "no <article>" in joined(read(data).violations)
    assert read(data).content_hash == read(data).content_hash


def test_elements_too_deep_in_one_another_are_refused_and_not_followed() -> None:
    reading = read(page(CLAIM + "<section>" * 100_000))
    assert "deep in one another" in joined(reading.violations)
    assert reading.content.body == "Drain first."
    assert reading.title == "A title"


# ── warnings ────────────────────────────────────────────────────────
def test_a_strange_element_is_warned_of_once_and_its_text_is_kept() -> None:
    data = page(f"{CLAIM}<p><blink>one</blink> <blink>two</blink></p>")
    assert warned(data) == ["<blink> is not in the element vocabulary"]
    assert read(data).content.body == "Drain first. one two"


def test_boxes_belong_into_figures() -> None:
    assert warned(page(f"{CLAIM}<div>x</div><div>y</div>")) == ["<div> outside <figure>"]
    assert warned(page(f"{CLAIM}<figure><div><span>x</span></div></figure><address>x</address>")) == []


def test_a_language_is_one_word() -> None:
    assert warned(page(f'{CLAIM}<code data-lang="c++">x</code>')) == []
    twice = '<code data-lang="not a lang">x</code>' * 2
    assert warned(page(f"{CLAIM}{twice}")) == ['data-lang="not a lang" is not a name of a language']


@pytest.mark.parametrize(
    "article",
    [
        f'{CLAIM}<img src="https://x.org/pixel.png">',
        f'{CLAIM}<iframe src="x"></iframe>',
        f'{CLAIM}<p><a href="javascript:alert(1)">x</a></p>',
        f'{CLAIM}<p><a href=" java\tscript:alert(1)">x</a></p>',
        f'{CLAIM}<p><a href="data:text/html,x">x</a></p>',
        f'{CLAIM}<p><a ping="https://x.org" href="/a.html">x</a></p>',
        f"{CLAIM}<svg><a></a></svg>",
        f'{CLAIM}<form action="x"></form>',
    ],
)
def test_what_a_browser_would_run_or_load_is_warned_of(article: str) -> None:
    assert [finding.group for finding in read(page(article)).warnings].count("active") >= 1


@pytest.mark.parametrize(
    "head",
    [
        '<meta http-equiv="Refresh" content="0; url=https://x.org">',
        '<link rel="stylesheet" href="https://x.org/a.css">',
        '<link rel="memhtml-supports preload" href="/areas/a.html">',
        '<base href="https://x.org/">',
    ],
)
def test_a_head_that_leads_elsewhere_is_warned_of(head: str) -> None:
    assert [finding.group for finding in read(page(head=head)).warnings] == ["active"]


def test_bytes_that_are_not_utf_8_are_warned_of_and_read_as_a_browser_does() -> None:
    data = page("<p><mark>cafX</mark></p>").replace(b"X", b"\xe9")
    reading = read(data)
    assert reading.is_memory
    assert reading.content.claim == "caf\ufffd"
    assert data[reading.warnings[0].place.byte] == 0xE9


def test_a_file_that_would_grow_beyond_measure_is_not_parsed() -> None:
    opened = "".join(f"<b id={number}>" for number in range(600))
    for article in (f"<p>{opened}" + "<p>x" * 30_000, "x" * 5_000_000):
        reading = read(page(CLAIM + article))
        assert [finding.group for finding in reading.violations] == ["file"]
        assert reading.content.body == ""


def test_a_long_memory_with_much_code_in_it_is_parsed() -> None:
    rows = "<tr><td><code>a</code><td><strong>b</strong><td><em>c</em>" * 5_000
    reading = read(page(f"{CLAIM}<table>{rows}</table>"))
    assert reading.is_memory
    assert reading.content.body.endswith("a b c")


def test_of_countless_faults_the_first_are_named() -> None:
    assert len(read(page(CLAIM + "<p class=x>é\n" * 50_000)).violations) == 500
