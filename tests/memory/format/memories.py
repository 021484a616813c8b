"""Files and values that the tests of the memory format share."""

from __future__ import annotations

from hypothesis import strategies as st

from fabula.memory.format.document import Document, canonical_markup
from fabula.memory.format.head import Head, Link
from fabula.memory.format.vocabulary import RELATIONS, STATUSES, TASK_STATUSES, TYPES, token_of

AT = "2026-05-14T08:20:00Z"

#: A rich memory, with every kind of element that has a meaning; byte for byte what the original format prescribes.
LEDGER = b"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Nightly export needs the replica paused, not stopped</title>
<meta name="memhtml-type" content="error_pattern">
<meta name="memhtml-status" content="active">
<meta name="memhtml-created" content="2026-05-14T08:20:00Z">
<meta name="memhtml-updated" content="2026-05-14T08:20:00Z">
<meta name="memhtml-confidence" content="0.85">
<meta name="memhtml-importance" content="7">
<meta name="memhtml-content-hash" content="sha256:dabeac2fbebcdc26a88cec04221b72be4e84864912a507246e8a915d341550bd">
<meta name="memhtml-author" content="agent:codex-local">
<meta name="memhtml-session" content="0b7a6f0e-5a1c-4f7e-9a40-2f3f5e0d9c11">
<meta name="memhtml-prompt" content="p-17">
<meta name="memhtml-entity" content="service:ledger-db">
<meta name="memhtml-entity" content="tool:pg_dump">
<meta name="memhtml-tag" content="backup">
<meta name="memhtml-tag" content="postgres">
<link rel="memhtml-caused-by" href="/projects/ledger/20260513-export-timed-out.html">
<link rel="memhtml-supersedes" href="/archive/2026/projects/ledger/stop-replica-before-export.html">
</head>
<body>
<article>
<p><mark>Pause WAL replay on the ledger replica before <code>pg_dump</code>; stopping the server makes the export fail.\
</mark> Seen first on <time datetime="2026-05-13">13 May</time> and written up in <cite>ledger incident 212</cite>.</p>
<dl><dt>Applies to</dt><dd>PostgreSQL 15 hot standby</dd><dt>Pause window</dt><dd><data value="40">forty minutes\
</data> at most</dd></dl>
<figure><pre><code data-lang="sql">SELECT pg_wal_replay_pause();
-- run the dump
SELECT pg_wal_replay_resume();</code></pre><figcaption>Pause, dump, resume.</figcaption></figure>
<details><summary>Why stopping fails</summary><p>The dump connects over the replica's own socket, which is gone once \
the server stops.</p></details>
<aside><p>Managed databases expose no replay control; take a snapshot there instead.</p></aside>
</article>
</body>
</html>
"""
LEDGER_HASH = "sha256:dabeac2fbebcdc26a88cec04221b72be4e84864912a507246e8a915d341550bd"

METAS = (
    ("memhtml-type", "semantic"),
    ("memhtml-status", "active"),
    ("memhtml-created", AT),
    ("memhtml-updated", AT),
)
CLAIM = "<p><mark>Drain first.</mark></p>"


def page(
    article: str = CLAIM, *, title: str = "<title>A title</title>", head: str = "", drop: str = "", **metas: str
) -> bytes:
    """Write a file by hand: metas by name (``task_status`` for ``memhtml-task-status``), head lines, an article."""
    values = dict(METAS) | {f"memhtml-{name.replace('_', '-')}": value for name, value in metas.items()}
    values.pop(f"memhtml-{drop}", None)
    lines = [f'<meta name="{name}" content="{value}">' for name, value in values.items()]
    inside = "\n".join([title, *lines, *([head] if head else [])])
    body = article if "<article" in article or article == "" else f"<article>\n{article}\n</article>"
    return f"<!doctype html>\n<html>\n<head>\n{inside}\n</head>\n<body>\n{body}\n</body>\n</html>\n".encode()


# ── generated memories ──────────────────────────────────────────────
#: Text as HTML can hold it: no control characters, no lone surrogates.
texts = st.text(st.characters(exclude_categories=("Cs", "Cc"), include_characters="\n\t"), max_size=40)
words = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=12)
lines = st.lists(words, min_size=1, max_size=4).map(" ".join)
instants = st.dates().map(lambda day: f"{day.isoformat()}T08:20:00Z")
paths = st.lists(st.from_regex("[a-z0-9-]{1,8}", fullmatch=True), min_size=1, max_size=3).map(
    lambda parts: f"areas/{'/'.join(parts)}.html"
)
links = st.builds(Link, st.sampled_from(sorted(map(token_of, RELATIONS))), paths.map("/{}".format))


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;").replace("\xa0", "&nbsp;")


_leaf = st.one_of(
    texts.map(_escaped),
    st.just("<!-- a comment -->"),
    st.builds('<time datetime="2026-05-13">{}</time>'.format, lines.map(_escaped)),
    st.builds('<data value="{}">x</data>'.format, st.integers()),
    st.builds('<code data-lang="{}">{}</code>'.format, st.sampled_from(["sql", "c++"]), texts.map(_escaped)),
    st.builds('<q cite="https://example.com">{}</q>'.format, texts.map(_escaped)),
    st.builds('<a href="{}">there</a>'.format, words.map(_escaped)),
)
_inline = st.recursive(
    _leaf,
    lambda inner: st.builds("<{0}>{1}</{0}>".format, st.sampled_from(["strong", "em", "dfn", "kbd", "cite"]), inner),
    max_leaves=4,
)
_flow = st.lists(_inline, max_size=4).map("".join)
_block = st.one_of(
    _flow.map("<p>{}</p>".format),
    st.builds("<ul><li>{}</li><li>{}</ul>".format, _flow, _flow),
    st.builds("<dl><dt>{}</dt><dd>{}</dd><dd>{}</dl>".format, _flow, _flow, _flow),
    st.builds(
        "<figure><pre>{}{}</pre><figcaption>{}</figcaption></figure>".format,
        st.sampled_from(["", "\n", "\n\n"]),
        _flow,
        _flow,
    ),
    st.builds("<table><tr><td>{}<td>{}</table>".format, _flow, _flow),
    st.builds("<details><summary>{}</summary><p>{}</p></details>".format, _flow, _flow),
    st.builds("<aside>{}</aside>\n{}".format, _flow, _flow),
)
#: Inner markup of articles that keep to the format, spelled in many ways.
articles = st.builds(
    "<p><mark>{} claim</mark>{}</p>{}".format,
    lines.map(_escaped),
    texts.map(_escaped),
    st.lists(_block, max_size=4).map("".join),
)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Make a memory of any kind."""
    kind = draw(st.sampled_from(TYPES))
    maybe = st.none() | lines
    head = Head(
        type=kind,
        status=draw(st.sampled_from(STATUSES)),
        created=draw(instants),
        updated=draw(instants),
        confidence=draw(st.none() | st.integers(0, 1_000_000).map(lambda n: round(n / 1_000_000, 6))),
        importance=draw(st.none() | st.integers(1, 10)),
        content_hash=draw(maybe),
        author=draw(maybe),
        session=draw(maybe),
        valid_until=draw(st.none() | instants),
        reprieves=draw(st.none() | st.integers(0, 3)),
        needs_revision=draw(st.none() | st.booleans()),
        task_status=draw(st.sampled_from(TASK_STATUSES)) if kind == "task" else None,
        due=draw(st.none() | instants),
        entities=tuple(draw(st.lists(lines, max_size=3))),
        tags=tuple(draw(st.lists(lines, max_size=3))),
        origin=draw(st.none() | paths),
        reason=draw(maybe),
        cites=tuple(draw(st.lists(lines, max_size=2))),
    )
    related = tuple(draw(st.lists(links, max_size=3)))
    return Document(draw(lines), head, related, canonical_markup(draw(articles)))
