"""A thread as text under a token budget: what `fabula record thread` prints and what a context pack is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.clock import format_time
from fabula.kernel.tokens import budget_characters
from fabula.kernel.values import frozen
from fabula.record.reading.budget import cut, fair_level
from fabula.record.reading.sentinels import truncation_marker, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fabula.record.reading.turns import Piece, ThreadView, Turn

BRANCHES_LABEL = "-- edit-branches (abandoned retries) --"
SIDECHAIN_LABEL = "-- sidechain (subagent)"
_LONG = 500  # characters from which even a prompt or a reply is cut when nothing else is left to cut


@frozen
class Rendered:
    """The text, how many pieces were cut in it, and whether it would not fit its budget."""

    text: str
    cut_pieces: int
    exceeds_budget: bool


@frozen
class _Part:
    text: str
    uid: str = ""
    head: str = ""
    elidable: bool = False


def render_thread(view: ThreadView, *, budget: int, sentinel: bool = True) -> Rendered:
    """Write a thread in at most about ``budget`` tokens, and never in more than one and a half times as many.

    Calls, results and thoughts are cut first, evenly; what is cut names the command that shows it whole.
    """
    parts = [_Part(_header(view)), *_body(view)]
    room = budget_characters(budget)
    limit = room * 3 // 2
    bare = sum(len(part.head if part.elidable else part.head + part.text) + 1 for part in parts)
    exceeds = bare > limit
    if exceeds:
        parts = [_Part(p.text, p.uid, p.head, p.elidable or len(p.text) > _LONG) for p in parts]
        bare = sum(len(part.head if part.elidable else part.head + part.text) + 1 for part in parts)
    level = fair_level((len(part.text) for part in parts if part.elidable), room - bare)
    lines, cut_pieces = _cut_all(parts, level)
    on_main = 1 + sum(1 for _ in _turns(view.main))
    complaint = f"thread {view.thread} exceeds budget of {budget} tokens"
    text, dropped = _within(lines[:on_main], lines[on_main:], limit, complaint, notice=exceeds)
    if sentinel:
        text = wrap(text, session=view.session, thread=view.thread, arcs=[view.thread])
    return Rendered(text, cut_pieces, exceeds or dropped)


def _header(view: ThreadView) -> str:
    facts = [f"thread {view.thread}", f"{len(view.main)} turns"]
    if view.branch_turns:
        facts.append(f"+{view.branch_turns} edit-branch")
    if view.sidechain_turns:
        facts.append(f"+{view.sidechain_turns} sidechain")
    return f"== {' | '.join(facts)} =="


def _body(view: ThreadView) -> Iterator[_Part]:
    yield from _turns(view.main)
    if view.branches:
        yield _Part(BRANCHES_LABEL)
        for branch in view.branches:
            yield from _turns(branch)
    for chain in view.sidechains:
        if chain.turns:
            started = f" started by {chain.spawned_by}" if chain.spawned_by else ""
            yield _Part(f"{SIDECHAIN_LABEL} {chain.session}{started} --")
            yield from _turns(chain.turns)
    if view.silent:
        counts = ", ".join(f"{number} {kind}" for kind, number in view.silent.items())
        yield _Part(f"-- nothing more in: {counts} --")


def _turns(turns: Sequence[Turn]) -> Iterator[_Part]:
    for turn in turns:
        marks = " dangling-parent" if turn.dangling else ""
        yield _Part(f"[{turn.kind} {turn.uid} {format_time(turn.time)}{marks}]")
        for piece in turn.pieces:
            yield _Part(piece.text, turn.uid, _head(piece), piece.elidable)


def _head(piece: Piece) -> str:
    after = "\n" if piece.text else ""
    if piece.kind == "thought":
        return "(thinking) "
    if piece.kind == "call":
        return f"[tool_use {piece.tool}]{after}"
    if piece.kind == "result":
        return f"[tool_result{' failed' if piece.failed else ''}]{after}"
    if piece.kind in {"image", "document"}:
        return f"[{piece.kind}]{after}"
    return ""


def _cut_all(parts: Sequence[_Part], level: int) -> tuple[list[str], int]:
    lines: list[str] = []
    cut_pieces = 0
    for part in parts:
        text = cut(part.text, level, truncation_marker(part.uid)) if part.elidable else part.text
        cut_pieces += text is not part.text
        lines.append(part.head + text)
    return lines, cut_pieces


def _within(main: Sequence[str], rest: Sequence[str], limit: int, complaint: str, *, notice: bool) -> tuple[str, bool]:
    """Join lines up to a limit of characters; say so where lines were left out, or where ``notice`` asks for it.

    What is beside the main path goes first, from its end; then the middle of the main path, for a thread's last words
    matter as much as its first.
    """
    advice = "raise --budget, or read one record with: fabula record block UID"
    whole = "\n".join([*main, *rest])
    short = f"\n[{complaint}: long turns were cut; {advice}]" if notice else ""
    if len(whole) + len(short) <= limit:
        return whole + short, False
    room = limit - len(complaint) - len(advice) - 40
    kept = _fitting(main, room)
    if len(kept) == len(main):
        beside = _fitting(rest, room - sum(len(line) + 1 for line in main))
        return "\n".join([*main, *beside, f"[{complaint}: the last lines are left out; {advice}]"]), True
    head = _fitting(main, room * 2 // 3)
    tail = _fitting(main[:0:-1], room - sum(len(line) + 1 for line in head))[::-1]
    return "\n".join([*head, f"[{complaint}: the middle is left out; {advice}]", *tail]), True


def _fitting(lines: Sequence[str], room: int) -> list[str]:
    """Return the first lines that fit into ``room`` characters together."""
    kept: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept
