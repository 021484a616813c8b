"""Deciding what of another memory's rows goes where. Pure: what is here already is passed in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fabula.kernel.canonical import canonical_json
from fabula.kernel.hashes import digest
from fabula.kernel.values import define, field
from fabula.record.containers.rows import row_line
from fabula.record.importing.counts import Count
from fabula.record.importing.fable import PLACED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from fabula.record.containers.rows import Row
    from fabula.record.importing.fable import Tables

PREFIX = "fable:"  # of the references under which rows are kept as they are
_LISTS = (
    "topics", "decisions", "ideas", "features", "lessons", "gotchas", "open_questions", "directives", "files", "cues",
    "salient_entities",
)  # fmt: skip
FORGOTTEN = "forgotten on purpose"
_TAG = ("family", "value", "score", "source", "model", "created_at")


@define
class Here:
    """What the journal holds before: session titles, pinned sessions, cards, citations as (uid, reader).

    ``forgotten`` says of a session, a thread or the reference of a kept row whether it was forgotten on purpose.
    """

    titles: Mapping[str, str]
    pins: frozenset[str]
    cards: Mapping[str, str]
    citations: frozenset[tuple[str, str]]
    forgotten: Callable[[str], bool] = lambda _: False


@define
class Plan:
    """What is to be written, and the account of every row."""

    titles: dict[str, str] = field(default_factory=dict)  # session -> title
    pins: list[str] = field(default_factory=list)
    cards: dict[str, str] = field(default_factory=dict)  # reference -> JSON: threads' cards, and rows kept as they are
    citations: list[tuple[str, bytes, str, int]] = field(default_factory=list)  # uid, digest, reader, when (0: unknown)
    counts: list[Count] = field(default_factory=list)


def plan(tables: Tables, here: Here, digest_of: Callable[[str], bytes | None]) -> Plan:
    """Decide about every row. ``digest_of`` gives the digest of a record's bytes, ``None`` where it is not here."""
    made = Plan()
    sessions = tables.rows.get("sessions", [])
    made.counts += [_titles(sessions, here, made), _pins(sessions, here, made), _session_tags(sessions, here, made)]
    tags = tables.rows.get("thread_tags", [])
    made.counts += _cards(tables.rows.get("cards", []), tags, here, made)
    made.counts.append(_citations(tables, here, digest_of, made))
    for name, rows in tables.rows.items():
        if name not in PLACED:
            count = Count(name)
            for row in rows:
                _keep(count, name, row, here, made)
            made.counts.append(count)
    made.counts += _left_out(tables.derived, "made anew from the transcripts")
    made.counts += _left_out(tables.logs, "about fable's own work")
    return made


# ── sessions ─────────────────────────────────────────────────────────


def _titles(sessions: Iterable[Row], here: Here, made: Plan) -> Count:
    count = Count("sessions: title")
    for row in sessions:
        session, title = _text(row, "session_id"), " ".join(_text(row, "title").split())
        known = here.titles.get(session)
        if not session or not title:
            count.skip("no title")
        elif here.forgotten(session):
            count.skip(FORGOTTEN)
        elif known == title:
            count.find()
        elif known is not None:
            count.skip("you gave another title here")
        else:
            made.titles[session] = title
            count.take()
    return count


def _pins(sessions: Iterable[Row], here: Here, made: Plan) -> Count:
    count = Count("sessions: pinned")
    for row in sessions:
        session = _text(row, "session_id")
        if not session or not row.get("pinned"):
            count.skip("not pinned")
        elif here.forgotten(session):
            count.skip(FORGOTTEN)
        elif session in here.pins:
            count.find()
        else:
            made.pins.append(session)
            count.take()
    return count


def _session_tags(sessions: Iterable[Row], here: Here, made: Plan) -> Count:
    count = Count("sessions: tags")
    for row in sessions:
        if row.get("tags") in (None, "", "[]", "{}"):
            count.skip("no tags")
        else:
            kept: Row = {"session_id": row.get("session_id"), "tags": row.get("tags")}
            _keep(count, "sessions", kept, here, made)
    return count


# ── cards ────────────────────────────────────────────────────────────


def _cards(cards: Iterable[Row], tags: Sequence[Row], here: Here, made: Plan) -> list[Count]:
    """A thread's card takes the tags of its thread along; tags of other threads are kept as they are."""
    count, tag_count = Count("cards"), Count("thread_tags")
    by_thread: dict[str, list[Row]] = {}
    for tag in tags:
        by_thread.setdefault(_text(tag, "prompt_id"), []).append(tag)
    for row in cards:
        thread = _text(row, "prompt_id")
        if not thread:
            _keep(count, "cards", row, here, made)
            continue
        own = by_thread.pop(thread, [])
        if here.forgotten(thread):
            count.skip(FORGOTTEN)
            tag_count.skip(FORGOTTEN, len(own))
            continue
        card = card_of(row, own)
        known = here.cards.get(thread)
        if known is None:
            made.cards[thread] = card
            count.take()
        elif known == card:
            count.find()
        else:  # the one that is here stays; this one is not lost
            _keep(count, "cards", {**row, "tags": card}, here, made)
        for _ in own:
            tag_count.take() if known is None else tag_count.find()
    for left in by_thread.values():
        for tag in left:
            _keep(tag_count, "thread_tags", tag, here, made)
    return [count, tag_count]


def card_of(row: Row, tags: Iterable[Row]) -> str:
    """Return a card as JSON: every column, lists read where they are lists, and the tags of its thread."""
    card: dict[str, Any] = {name: value for name, value in row.items() if name != "prompt_id" and value is not None}
    for name in _LISTS:
        if name in card:
            card[name] = _list(card[name])
    card["tags"] = [{name: tag[name] for name in _TAG if tag.get(name) is not None} for tag in tags]
    card["from"] = "fable"
    return canonical_json({name: _plain(value) for name, value in card.items()}).decode()


def _list(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return found if isinstance(found, list) else value


def _plain(value: Any) -> Any:
    """Return a value that JSON can hold: a blob as its hexadecimal digits."""
    return {"hex": value.hex()} if isinstance(value, bytes) else value


# ── citations ────────────────────────────────────────────────────────


def _citations(tables: Tables, here: Here, digest_of: Callable[[str], bytes | None], made: Plan) -> Count:
    """Fable cites threads: here the record with which the thread begins is cited, with the digest of its bytes."""
    count = Count("citations")
    met: set[tuple[str, str]] = set()
    for row in tables.rows.get("citations", []):
        reader, ref = _text(row, "from_uuid"), _text(row, "ref")
        uid = tables.first_records.get(ref, ref)
        name = f"record {reader}"
        if (uid, name) in here.citations or (uid, name) in met:
            count.find()
            continue
        bytes_digest = digest_of(uid) if reader and uid else None
        if bytes_digest is None:
            _keep(count, "citations", row, here, made)
            continue
        met.add((uid, name))
        made.citations.append((uid, bytes_digest, name, tables.times.get(reader, 0)))
        count.take()
    return count


# ── rows as they are ─────────────────────────────────────────────────


def _keep(count: Count, table: str, row: Row, here: Here, made: Plan) -> None:
    """Keep a row as a line of JSON that gives it back exactly, unless it was kept or forgotten before."""
    line = row_line(table, row)
    ref = f"{PREFIX}{table}:{digest(line)[:12].hex()}"
    if here.forgotten(ref):
        count.skip(FORGOTTEN)
        return
    new = ref not in here.cards and ref not in made.cards
    count.keep(new=new)
    if new:
        made.cards[ref] = line.decode("utf-8", "replace")


def _left_out(tables: Mapping[str, int], reason: str) -> list[Count]:
    counts = []
    for name, rows in tables.items():
        count = Count(name)
        if rows:
            count.skip(reason, rows)
        counts.append(count)
    return counts


def _text(row: Row, name: str) -> str:
    value = row.get(name)
    return value if isinstance(value, str) else ""
