"""The head of a memory as values: what its metas and links say, and how they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fabula.kernel.values import frozen
from fabula.memory.format.content import read_number
from fabula.memory.format.vocabulary import OURS, PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_YES = frozenset({"true", "1", "yes"})


class Meta(NamedTuple):
    """A name and its content, as they stand in a head."""

    name: str
    content: str


class Link(NamedTuple):
    """A relation of this memory: the token of ``rel``, and the place it leads to."""

    rel: str
    href: str


@frozen
class Head:
    """What the metas of a memory say. Times are as written; ``None`` is what was not said, or was of no use."""

    type: str
    status: str
    created: str
    updated: str
    confidence: float | None = None  # 0 to 1
    importance: int | None = None  # 1 to 10
    content_hash: str | None = None  # advice: never trusted, always computed anew
    author: str | None = None
    session: str | None = None
    prompt: str | None = None
    turn: str | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    reprieves: int | None = None
    archived: str | None = None
    superseded_by: str | None = None
    needs_revision: bool | None = None
    task_status: str | None = None
    due: str | None = None
    entities: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    origin: str | None = None
    reason: str | None = None
    cites: tuple[str, ...] = ()


#: meta name -> field of :class:`Head`, in the order in which a head is written.
_FIELDS = {
    **{
        PREFIX + field.replace("_", "-"): field
        for field in (
            "type status created updated confidence importance content_hash author session prompt turn valid_from "
            "valid_until reprieves archived superseded_by needs_revision task_status due"
        ).split()
    },
    PREFIX + "entity": "entities",
    PREFIX + "tag": "tags",
    PREFIX + "alias": "aliases",
    OURS + "origin": "origin",
    OURS + "reason": "reason",
    OURS + "cite": "cites",
}
_LISTS = frozenset({"entities", "tags", "aliases", "cites"})


def read_head(metas: Iterable[Meta]) -> Head:
    """Return the values of metas; a number out of its range counts as not said.

    Raises:
        TypeError: one of the four required metas is missing.
    """
    values: dict[str, object] = {}
    lists: dict[str, list[str]] = {}
    for name, content in metas:
        field = _FIELDS.get(name)
        if field is None:
            continue
        if field in _LISTS:
            if content:
                lists.setdefault(field, []).append(content)
        elif field not in values:
            values[field] = _READERS[field](content) if field in _READERS else content
    return Head(**values, **{field: tuple(items) for field, items in lists.items()})  # type: ignore[arg-type]


def write_head(head: Head) -> list[Meta]:
    """Return the metas of a head in the order of the format."""
    metas = []
    for name, field in _FIELDS.items():
        value = getattr(head, field)
        if field in _LISTS:
            metas += [Meta(name, item) for item in value]
        elif value is not None:
            metas.append(Meta(name, _text(field, value)))
    return metas


def confidence_text(confidence: float) -> str:
    """Write a confidence with two decimals, or as many more, up to six, as it has."""
    text = f"{confidence:.6f}".rstrip("0")
    whole, _, decimals = text.partition(".")
    return f"{whole}.{decimals:0<2}"


def _confidence(content: str) -> float | None:
    number = read_number(content)
    return round(number, 6) if number is not None and 0 <= number <= 1 else None


def _whole(content: str, lowest: int, highest: int) -> int | None:
    number = read_number(content)
    return int(number) if number is not None and number.is_integer() and lowest <= number <= highest else None


#: field -> what reads it, where it is not the text itself.
_READERS: dict[str, Callable[[str], object]] = {
    "confidence": _confidence,
    "importance": lambda content: _whole(content, 1, 10),
    "reprieves": lambda content: _whole(content, 0, 2**31),
    "needs_revision": lambda content: content.strip().lower() in _YES,
}


def _text(field: str, value: object) -> str:
    if field == "confidence":
        return confidence_text(value)  # type: ignore[arg-type]
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
