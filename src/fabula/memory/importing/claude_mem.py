"""claude-mem's database as memories: observations, directives, and what summaries of sessions say was learned. Pure.

Its tables are ``observations`` (type, title, subtitle, narrative, ``facts`` and ``concepts`` as JSON lists, project,
``created_at_epoch`` in ms), ``directives`` (rules of a person) and ``session_summaries``; columns came and went with
its versions, so each is read only where it is there. Source: its own ``schema.sql``.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from fabula.memory.format.fences import claim_and_rest, paragraphs
from fabula.memory.format.slugs import slug
from fabula.memory.format.times import written
from fabula.memory.importing.prose import title_of, within
from fabula.memory.importing.values import Candidate, Found, Skipped
from fabula.memory.store.values import NewMemory, Provenance

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Row = Mapping[str, Any]

TABLES = ("observations", "directives", "session_summaries", "sdk_sessions")
#: type of an observation -> type of a memory; any other is a fact.
_TYPES = {"decision": "precedent", "bugfix": "error_pattern", "discovery": "semantic"}
_MILLISECONDS_FROM = 100_000_000_000  # a smaller number counts seconds


def read_claude_mem(tables: Mapping[str, Iterable[Row]]) -> Found:
    """Return what its rows hold. ``tables``: name -> rows as column -> value."""
    found = Found()
    sessions = {row.get("memory_session_id"): row.get("content_session_id") for row in tables.get("sdk_sessions", ())}
    for row in tables.get("observations", ()):
        _add(found, f"observations {row.get('id')}", _observation(row, sessions))
    for row in tables.get("directives", ()):
        key = f"directives {row.get('id')}"
        if row.get("status", "active") != "active":
            found.skipped.append(Skipped(key, "not active"))
            continue
        _add(found, key, _prose(row, _text(row, "content"), "user_preference", "", sessions))
    for row in tables.get("session_summaries", ()):
        _add(found, f"session_summaries {row.get('id')}", _prose(row, _text(row, "learned"), "semantic", "", sessions))
    return found


def _add(found: Found, key: str, memory: NewMemory | None) -> None:
    if memory is None:
        found.skipped.append(Skipped(key, "it says nothing"))
    else:
        found.candidates.append(Candidate(key, memory))


def _observation(row: Row, sessions: Mapping[Any, Any]) -> NewMemory | None:
    """Return an observation: its subtitle or the first sentence of its narrative is the claim, facts stand behind."""
    title, subtitle = _text(row, "title"), _text(row, "subtitle")
    narrative = _text(row, "narrative") or _text(row, "text")
    facts = _list(row, "facts")
    if not (subtitle or narrative or facts or title):
        return None
    claim, rest = (subtitle, paragraphs(narrative)) if subtitle else claim_and_rest(narrative or title)
    if not claim:
        claim, *facts = facts
    return _prose(row, "", _TYPES.get(_text(row, "type"), "semantic"), title, sessions, claim, (*rest, *facts))


def _prose(
    row: Row, text: str, kind: str, title: str, sessions: Mapping[Any, Any], claim: str = "", body: Iterable[str] = ()
) -> NewMemory | None:
    if text:
        claim, body = claim_and_rest(text)
    if not claim.strip():
        return None
    claim, body = within(claim, body)
    project = _text(row, "merged_into_project") or _text(row, "project")
    tags = [slug(concept) for concept in (_text(row, "type"), *_list(row, "concepts")) if concept]
    session = sessions.get(row.get("memory_session_id")) or ""
    return NewMemory(
        title=title_of(title or claim),
        type=kind,
        claim=claim,
        body=tuple(body),
        workspace=slug(project.replace("\\", "/").rstrip("/").rpartition("/")[2]) if project else None,
        tags=tuple(dict.fromkeys(tags)),
        valid_from=_when(row.get("created_at_epoch")),
        provenance=Provenance(session=session if _is_id(session) else "", author="claude-mem"),
    )


def _text(row: Row, name: str) -> str:
    value = row.get(name)
    return value.strip() if isinstance(value, str) else ""


def _list(row: Row, name: str) -> list[str]:
    """Return a column's JSON list of texts; one that is no list is a text by itself."""
    text = _text(row, name)
    try:
        value = json.loads(text) if text else []
    except (ValueError, RecursionError):
        value = [text]
    items = value if isinstance(value, list) else [value]
    return [item.strip() for item in items if isinstance(item, str) and item.strip()]


def _when(epoch: Any) -> str | None:
    if not isinstance(epoch, int | float) or isinstance(epoch, bool) or epoch <= 0:
        return None
    try:
        return written(datetime.fromtimestamp(epoch / 1000 if epoch >= _MILLISECONDS_FROM else epoch, UTC))
    except (OverflowError, ValueError, OSError):
        return None


def _is_id(text: Any) -> bool:
    return isinstance(text, str) and 0 < len(text) <= 200 and text.isprintable() and " " not in text
