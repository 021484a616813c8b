"""Exports as one standalone page: no script, no request, every recorded character escaped."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING

from fabula.record.reading.document import MADE_WITH, sections, turn_title, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabula.record.reading.document import Document
    from fabula.record.reading.turns import Piece, ThreadView, Turn

_STYLE = """
:root{color-scheme:light dark;--line:#8884;--soft:#8881}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.4rem}h2{font-size:1.1rem;border-top:1px solid var(--line);padding-top:1rem}
h3,h4{font-size:.9rem;font-weight:600}h4{opacity:.7;margin:1.2rem 0 .3rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem;font-size:.9rem}dd{margin:0}
pre{white-space:pre-wrap;overflow-wrap:anywhere;font:.85rem/1.45 ui-monospace,monospace;margin:.3rem 0}
.text{font:inherit}.prompt,.task{border-left:3px solid #47c;padding-left:.8rem}
.call pre,.result pre{background:var(--soft);padding:.6rem;border-radius:.3rem}
.failed>summary{color:#c33}summary{cursor:pointer;font-size:.85rem;opacity:.8}
section.aside{border-left:3px solid var(--line);padding-left:1rem;margin:1rem 0}footer{opacity:.6;font-size:.8rem}
"""
_STYLE_HASH = b64encode(sha256(_STYLE.encode()).digest()).decode()
_POLICY = f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'"


def to_html(document: Document) -> str:
    """Write a document as an HTML page. Control characters and text-direction overrides are made visible."""
    facts = "".join(f"<dt>{_safe(name)}</dt><dd>{_safe(value)}</dd>" for name, value in document.facts if value)
    body = "\n".join(line for view in document.threads for line in _thread(view))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{_safe(document.title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{_safe(document.title)}</h1>\n<dl>{facts}</dl>\n{body}\n"
        f"<footer>{MADE_WITH}.</footer>\n</body>\n</html>\n"
    )


def _thread(view: ThreadView) -> Iterator[str]:
    yield f"<h2>Thread {_safe(view.thread)}</h2>"
    for section in sections(view):
        if section.label:
            yield f'<section class="aside"><h3>{_safe(section.label)}</h3>'
        for turn in section.turns:
            yield _turn(turn)
        if section.label:
            yield "</section>"


def _turn(turn: Turn) -> str:
    pieces = "\n".join(_piece(piece) for piece in turn.pieces)
    return f'<article class="{_safe(turn.kind)}"><h4>{_safe(turn_title(turn))}</h4>\n{pieces}\n</article>'


def _piece(piece: Piece) -> str:
    text = f"<pre>{_safe(piece.text)}</pre>"
    if piece.kind == "thought":
        return f"<details><summary>thinking</summary>{text}</details>"
    if piece.kind == "call":
        return f'<details class="call" open><summary>{_safe(piece.tool)}</summary>{text}</details>'
    if piece.kind == "result":
        state = " failed" if piece.failed else ""
        return f'<details class="result{state}"><summary>result{state}</summary>{text}</details>'
    if piece.kind in {"image", "document"}:
        return f"<p>[{piece.kind}]</p>"
    return f'<pre class="text">{_safe(piece.text)}</pre>'


def _safe(text: str) -> str:
    return escape(visible(text), quote=True)
