"""A memory in other forms: Markdown with front matter, one JSON object a line. Pure: same memory, same text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fabula.memory.format.canonical import one_line
from fabula.memory.format.paths import target_of
from fabula.memory.format.vocabulary import relation_of

if TYPE_CHECKING:
    from fabula.memory.format.reader import Reading


_SCALARS = (
    "title", "type", "status", "created", "updated", "confidence", "importance", "valid_from", "valid_until",
)  # fmt: skip
_LISTS = ("tags", "entities", "aliases")


def as_row(path: str, reading: Reading) -> dict[str, Any]:
    """Return all that a memory says: its head, its relations, its facets, its text and the file itself."""
    head, content = reading.head, reading.content
    facets: dict[str, list[str]] = {}
    for facet in content.facets:
        facets.setdefault(facet.name, []).append(facet.value)
    row: dict[str, Any] = {
        "path": path,
        "title": reading.title,
        "type": head.type,
        "status": head.status,
        "claim": one_line(content.claim),
        "text": content.text,
        "created": head.created,
        "updated": head.updated,
        "confidence": head.confidence,
        "importance": head.importance,
        "valid_from": head.valid_from,
        "valid_until": head.valid_until,
        "task_status": head.task_status,
        "due": head.due,
        "author": head.author,
        "session": head.session,
        "superseded_by": target_of(head.superseded_by) if head.superseded_by else None,
        "tags": list(head.tags),
        "entities": list(head.entities),
        "aliases": list(head.aliases),
        "facets": facets,
        "links": [[relation_of(link.rel) or link.rel, target_of(link.href)] for link in reading.links],
        "cites": list(head.cites),
        "content_hash": reading.content_hash,
        "fact_hash": reading.fact_hash,
        "html": reading.source.text,
    }
    return {name: value for name, value in row.items() if value not in (None, [], {})}


def as_line(path: str, reading: Reading) -> str:
    """Return a memory as one line of JSON."""
    return json.dumps(as_row(path, reading), ensure_ascii=False, separators=(",", ":")) + "\n"


def as_markdown(path: str, reading: Reading) -> str:
    """Return a memory as a note: front matter, the claim, what stands behind it, the relations.

    ``import markdown`` reads it as one memory. What only HTML says (tables, marks) is there as text alone.
    """
    row = as_row(path, reading)
    front = ["---", *(f"{name}: {_scalar(row[name])}" for name in _SCALARS if name in row)]
    for name in _LISTS:
        front += [f"{name}:", *(f"  - {_scalar(value)}" for value in row[name])] if name in row else []
    front += [f"description: {_scalar(row['claim'])}", "---"]
    rest = row["text"].strip()
    body = rest.removeprefix(row["claim"]).strip()
    links = [f"- {relation}: [{target}](/{target}.md)" for relation, target in row.get("links", [])]
    parts = ["\n".join(front), body, "\n".join(links)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _scalar(value: Any) -> str:
    """Write a value of front matter: text in quotes wherever it could be read as something else."""
    text = one_line(str(value))
    plain = text and text[0].isalpha() and not set(text) & set(":#'\"[]{},&*!|>%@`\\")
    return text if plain or not isinstance(value, str) else json.dumps(text, ensure_ascii=False)
