"""Marks around recalled and private text: written when we recall, recognised when the text comes back in a transcript.

Recalled text must be neither obeyed nor indexed again, so it travels inside
``<historical_context session="" thread="" arcs="id,id">…</historical_context>`` (*arcs* are the recalled threads).
Text that a hook of ours or of the original tool injected is ``<fabula-…>…</fabula-…>`` or ``<fable-…>…</fable-…>``.
A person hides text in ``<private>…</private>``.

Everything here is pure. :func:`strip` runs once for each text of every record, so text without ``<`` costs one search.
"""

from __future__ import annotations

import re
from shlex import quote
from typing import TYPE_CHECKING, Literal

from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fabula.kernel.records import Block

PRIVATE_STUB = "[private]"
#: What replaces the cut part of a text; the reader passes the uid to the command that the marker names.
MARKER_FORMAT = "… [truncated — fabula record block {uid}]"

_MARKER_HEAD = "… [truncated — fab"
_HINT = re.compile(r"</?[hfpP](?:istorical_context|ab(?:le|ula)-|(?i:rivate))")  # half the price of _TAG on markup
_MARKER = r"… \[truncated — (?:fable|fabula record) block ('[^'\]\n]{1,200}'|[^\]\s]{1,200})\]"
_TAG = re.compile(
    r"<(?:(?P<close>/?)(?:(?P<recall>historical_context)(?P<attributes>\s[^<>]*)?"
    r"|fab(?:le|ula)-(?P<ours>[\w-]+)(?:[\s/][^<>]*)?"
    r"|(?P<private>(?i:private))\s*))>"
)
_ATTRIBUTE = r"""(\w+)\s*=\s*(?:"([^"]*)"|'([^']*)')"""
_INNER = r"(?i)(?:<|&(?P<amps>(?:amp;)*)lt;)(?=\s*/?\s*historical_context)"
_ESCAPED = r"(?i)&(?P<amps>(?:amp;)*)lt;(?=\s*/?\s*historical_context)"

SpanKind = Literal["recall", "private", "ours", "tag"]


@frozen
class _Span:
    start: int
    end: int
    kind: SpanKind
    refs: tuple[str, ...] = ()


def wrap(body: str, *, session: str, thread: str, arcs: Iterable[str]) -> str:
    """Put recalled text into the sentinel, on lines of its own.

    A sentinel tag inside ``body`` is escaped, so nothing that is quoted can close ours; :func:`unwrap` restores it.
    """
    opener = (
        f'<historical_context session="{_attribute(session)}" thread="{_attribute(thread)}"'
        f' arcs="{_attribute(",".join(arcs))}">'
    )
    return f"{opener}\n{re.sub(_INNER, _escape_inner, body)}\n</historical_context>"


def unwrap(text: str) -> str:
    """Return the body of a text that :func:`wrap` made, as it was."""
    body = text[text.index(">") + 2 : text.rindex("</historical_context>") - 1]
    return re.sub(_ESCAPED, _unescape_inner, body)


def strip(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the text that its author wrote, and the ids of the threads that recalled parts of it came from.

    Removed: recalled spans (their arcs, else their thread, become ids), injected spans, private text, and our
    truncation marks. An unclosed recalled or private span runs to the end; an unclosed injected tag loses the tag only.
    """
    if _MARKER_HEAD in text:
        text = re.sub(_MARKER, "", text)
    if "<" not in text or not _HINT.search(text):
        return text, ()
    spans = _spans(text)
    refs = dict.fromkeys(ref for span in spans for ref in span.refs)
    return _replace(text, spans, lambda _: ""), tuple(refs)


def stub(text: str) -> str:
    """Return a text as it may be shown: recalled spans become ``<consulted_arcs refs="id,id"/>``, private text a mark.

    The original tool's truncation marks come out naming our command, for the ids are the same.
    """
    if _MARKER_HEAD in text:
        text = re.sub(_MARKER, lambda match: truncation_marker(match[1].strip("'")), text)
    if "<" not in text or not _HINT.search(text):
        return text
    return _replace(text, [span for span in _spans(text) if span.kind in {"recall", "private"}], _stub_of)


def consulted(text: str) -> str:
    """Return a text in which recalled spans are ``<consulted_arcs refs="id,id"/>``; everything else stays."""
    if "<historical_context" not in text:
        return text
    return _replace(text, [span for span in _spans(text) if span.kind == "recall"], _stub_of)


def hidden_spans(text: str) -> list[tuple[int, int, SpanKind]]:
    """Return the characters (start, end) that :func:`stub` puts marks in the place of: ``recall`` and ``private``."""
    if "<" not in text or not _HINT.search(text):
        return []
    return [(span.start, span.end, span.kind) for span in _spans(text) if span.kind in {"recall", "private"}]


def hide_across_blocks(blocks: Sequence[Block]) -> None:
    """Let private text go on through the text blocks of one record until it is closed: a picture may stand between."""
    if len(blocks) < 2:
        return
    texts = [block for block in blocks if block.kind == "text"]
    for block, text in zip(texts, _opened([block.text for block in texts]), strict=True):
        block.text = text


def without_private(texts: Sequence[str]) -> list[str]:
    """Return the texts of one message with a mark for what is private in them; everything else stays."""
    return [
        _replace(text, [span for span in _spans(text) if span.kind == "private"], _stub_of) if "<" in text else text
        for text in _opened(texts)
    ]


def _opened(texts: Sequence[str]) -> list[str]:
    """Open private text anew in each text of a message that begins inside of it."""
    found = []
    depth = 0
    for text in texts:
        found.append("<private>" * depth + text)
        if "<" in text and _HINT.search(text):
            for tag in _TAG.finditer(text):
                if tag["private"]:
                    depth = max(0, depth - 1) if tag["close"] else depth + 1
    return found


def truncation_marker(uid: str) -> str:
    """Return the mark that stands for the rest of a text of record ``uid``.

    An id is a transcript's word: one that a shell would not take as a plain word is quoted, for the mark is a command.
    """
    return MARKER_FORMAT.format(uid=quote(uid))


def _stub_of(span: _Span) -> str:
    if span.kind == "private":
        return PRIVATE_STUB
    return f'<consulted_arcs refs="{_attribute(",".join(span.refs))}"/>'


def _replace(text: str, spans: list[_Span], replacement: Callable[[_Span], str]) -> str:
    parts: list[str] = []
    position = 0
    for span in spans:
        parts += (text[position : span.start], replacement(span))
        position = span.end
    parts.append(text[position:])
    return "".join(parts)


def _spans(text: str) -> list[_Span]:
    """Find the outermost marked spans in order. Of recalled and private spans, the one that opened first rules."""
    tags = list(_TAG.finditer(text))
    spans: list[_Span] = []
    injected: list[re.Match[str]] = []
    index = 0
    while index < len(tags):
        tag = tags[index]
        index += 1
        if tag["ours"]:
            injected.append(tag)
        elif tag["private"] and not tag["close"]:
            spans.append(_Span(tag.start(), _balance(tags, index, "private") or len(text), "private"))
        elif tag["recall"] and not tag["close"] and (refs := _references(tag)) is not None:
            own = tag["attributes"].rstrip().endswith("/")
            end = tag.end() if own else _recall_end(tags, index, len(text))
            spans.append(_Span(tag.start(), end, "recall", refs))
        while spans and index < len(tags) and tags[index].start() < spans[-1].end:
            index += 1
    return _outermost(spans + _injected_spans(injected))


def _recall_end(tags: list[re.Match[str]], index: int, end: int) -> int:
    """A span ends at the closer that balances it, else at the last closer there is, else with the text."""
    balanced = _balance(tags, index, "recall")
    if balanced is not None:
        return balanced
    closers = [tag.end() for tag in tags[index:] if tag["recall"] and tag["close"]]
    return closers[-1] if closers else end


def _balance(tags: list[re.Match[str]], index: int, group: str) -> int | None:
    """Return the end of the closer that balances an opener before ``tags[index]``; bare openers are mentions."""
    depth = 1
    for tag in tags[index:]:
        if tag[group] and (tag["close"] or group == "private" or tag["attributes"]):
            depth += -1 if tag["close"] else 1
            if depth == 0:
                return tag.end()
    return None


def _references(opener: re.Match[str]) -> tuple[str, ...] | None:
    """Ids of a sentinel's arcs, else its thread; ``None`` for a tag without our attributes: a mere mention."""
    pairs = re.findall(_ATTRIBUTE, opener["attributes"] or "")
    from html import unescape  # its table of entities is not for every command

    found = {name: unescape(double or single) for name, double, single in pairs}
    if not found.keys() & {"session", "thread", "arcs"}:
        return None
    arcs = tuple(dict.fromkeys(arc.strip() for arc in found.get("arcs", "").split(",") if arc.strip()))
    thread = found.get("thread", "").strip()
    return arcs or ((thread,) if thread else ())


def _injected_spans(tags: list[re.Match[str]]) -> list[_Span]:
    """Pair injected tags: a closer takes the nearest open tag of its name, else the tag just before it.

    What stays unpaired is a mention: only the tag itself goes.
    """
    spans: list[_Span] = []
    opened: dict[str, list[re.Match[str]]] = {}
    previous: re.Match[str] | None = None
    for tag in tags:
        if not tag["close"]:
            opened.setdefault(tag["ours"], []).append(tag)
        else:
            named = opened.get(tag["ours"]) or (opened[previous["ours"]] if previous and not previous["close"] else [])
            mate = named.pop() if named else None
            spans.append(_Span((mate or tag).start(), tag.end(), "ours" if mate else "tag"))
        previous = tag
    return spans + [_Span(tag.start(), tag.end(), "tag") for named in opened.values() for tag in named]


def _outermost(spans: list[_Span]) -> list[_Span]:
    """Sort spans and drop the parts that lie inside an earlier one."""
    kept: list[_Span] = []
    reach = 0
    for span in sorted(spans, key=lambda each: (each.start, -each.end)):
        if span.end > reach:
            kept.append(_Span(max(span.start, reach), span.end, span.kind, span.refs))
            reach = span.end
    return kept


def _attribute(value: str) -> str:
    from html import escape  # its table of entities is not for every command

    return escape(value, quote=True)


def _escape_inner(match: re.Match[str]) -> str:
    return "&lt;" if match["amps"] is None else f"&amp;{match['amps']}lt;"


def _unescape_inner(match: re.Match[str]) -> str:
    return f"&{match['amps'].removeprefix('amp;')}lt;" if match["amps"] else "<"
