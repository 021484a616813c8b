"""Batches as text: one JSON object a line. What makes the whole text unusable is refused before anything is done."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import replace
from fabula.memory.format.fences import claim_and_rest
from fabula.memory.store.drafting import check_request
from fabula.memory.store.values import NewMemory, Provenance

if TYPE_CHECKING:
    from collections.abc import Mapping

OPERATIONS = ("write",)
_TEXTS = {
    "path": "path",
    "if_hash": "if_hash",
    "workspace": "workspace",
    "article_html": "article_html",
    "status": "task_status",
    "due": "due",
    "valid_from": "valid_from",
    "valid_until": "valid_until",
}
_LISTS = {
    "tag": "tags",
    "tags": "tags",
    "entity": "entities",
    "entities": "entities",
    "alias": "aliases",
    "aliases": "aliases",
}
_IDS = {"session_id": "session", "prompt_id": "prompt", "turn_uuid": "turn", "author": "author"}
_OTHERS = ("op", "title", "type", "claim", "body", "importance", "confidence", "links")
FIELDS = (*_OTHERS[:5], *_TEXTS, *_LISTS, *_OTHERS[5:], *_IDS)


def read_lines(text: str, provenance: Provenance | None = None) -> list[NewMemory | FabulaError]:
    """Return the memories of a batch in their order; one that cannot be meant is its error, in its place.

    ``body`` alone is prose whose first sentence is the claim; beside ``claim`` it is what follows. ``provenance`` is
    for lines that name none. Raises ``ERR_USAGE``, naming the line, for what is no batch: no JSON object, an unknown
    field or operation, no title or type, a value of the wrong kind, nothing at all.
    """
    found: list[NewMemory | FabulaError] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            found.append(_operation(_object(line, number), number, provenance or Provenance()))
    if not found:
        raise FabulaError("ERR_USAGE", "the batch has no operations", "give one JSON object a line")
    return found


def _object(line: str, number: int) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _wrong(number, f"this is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise _wrong(number, "an operation is a JSON object")
    unknown = [name for name in found if name not in FIELDS]
    if unknown:
        raise _wrong(number, f"unknown field {unknown[0]!r}; there are {', '.join(FIELDS)}")
    return {name: value for name, value in found.items() if value is not None}


def _operation(said: Mapping[str, Any], number: int, provenance: Provenance) -> NewMemory | FabulaError:
    operation = _text(said, "op", number, required=True)
    if operation not in OPERATIONS:
        raise _wrong(number, f"unknown operation {operation!r}; there is {', '.join(OPERATIONS)}")
    claim, body = _prose(said, number)
    lists: dict[str, tuple[str, ...]] = {}
    for name, field in _LISTS.items():
        lists[field] = tuple(dict.fromkeys((*lists.get(field, ()), *_list(said, name, number))))
    texts = {field: _text(said, name, number) or None for name, field in _TEXTS.items()}
    ids = {field: given for name, field in _IDS.items() if (given := _text(said, name, number))}
    new = NewMemory(
        title=_text(said, "title", number, required=True),
        type=_text(said, "type", number, required=True),
        claim=claim,
        body=body,
        importance=_whole(said, "importance", number),
        confidence=_number(said, "confidence", number),
        links=_links(said, number),
        provenance=replace(provenance, **ids),
        **texts,  # type: ignore[arg-type]
        **lists,  # type: ignore[arg-type]
    )
    try:
        check_request(new)
    except FabulaError as error:
        return error
    return new


def _prose(said: Mapping[str, Any], number: int) -> tuple[str, tuple[str, ...]]:
    from fabula.memory.format.fences import paragraphs

    body = _text(said, "body", number)
    if "claim" in said:
        return _text(said, "claim", number), tuple(paragraphs(body))
    claim, rest = claim_and_rest(body)
    return claim, tuple(rest)


def _text(said: Mapping[str, Any], name: str, number: int, *, required: bool = False) -> str:
    value = said.get(name, "")
    if not isinstance(value, str):
        raise _wrong(number, f"{name} is a text")
    if required and not value.strip():
        raise _wrong(number, f"{name} is missing")
    return value


def _list(said: Mapping[str, Any], name: str, number: int) -> list[str]:
    value = said.get(name, [])
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or any(not isinstance(item, str) for item in items):
        raise _wrong(number, f"{name} is a text or a list of texts")
    return items


def _number(said: Mapping[str, Any], name: str, number: int) -> float | None:
    value = said.get(name)
    if value is None:
        return None
    with suppress(ValueError, OverflowError):
        if isinstance(value, int | float | str) and not isinstance(value, bool):
            return float(value)
    raise _wrong(number, f"{name} is a number, not {value!r}")


def _whole(said: Mapping[str, Any], name: str, number: int) -> int | None:
    value = _number(said, name, number)
    if value is None:
        return None
    if not value.is_integer():
        raise _wrong(number, f"{name} is a whole number, not {value}")
    return int(value)


def _links(said: Mapping[str, Any], number: int) -> tuple[tuple[str, str], ...]:
    value = said.get("links", [])
    pairs = value if isinstance(value, list) else [value]
    if any(not isinstance(one, list) or [type(part) for part in one] != [str, str] for one in pairs):
        raise _wrong(number, 'links is a list of pairs: [["caused_by", "areas/inbox/x.html"]]')
    return tuple((relation, path) for relation, path in pairs)


def _wrong(number: int, message: str) -> FabulaError:
    return FabulaError("ERR_USAGE", f"line {number}: {message}", "put this line right; nothing was written")
