"""Folders of Markdown notes as memories: an agent's own memory, instructions for agents, a vault of notes. Pure.

- A note with ``name``, ``title`` or ``description`` in its front matter is one memory, as Claude Code writes its own.
- Any other note gives a memory for each item of a list and for the paragraphs under each heading.
- A line of an index (``MEMORY.md``) that only leads to another note is none.
"""

from __future__ import annotations

import posixpath
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from fabula.memory.format.fences import claim_and_rest, paragraphs
from fabula.memory.format.slugs import slug
from fabula.memory.format.times import is_written_form, written
from fabula.memory.format.vocabulary import WRITABLE_TYPES
from fabula.memory.importing.markdown import is_pointer, links_of, plain, read_note
from fabula.memory.importing.prose import title_of, within
from fabula.memory.importing.values import Candidate, Found, Skipped
from fabula.memory.store.values import NewMemory

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from fabula.memory.importing.markdown import Note, Piece

#: Files that tell agents how to work.
INSTRUCTIONS = frozenset({"claude.md", "claude.local.md", "agents.md", "gemini.md", "copilot-instructions.md"})
#: Kinds of Claude Code's own memory -> types of memories.
_KINDS = {"user": "user_preference", "feedback": "user_preference", "project": "semantic", "reference": "semantic"}
_FENCE = re.compile(r"`{3,}|~{3,}")
_SHOWN = re.compile(rf"{_FENCE.pattern}|\|")
_STRONG = re.compile(r"(\*\*|__)([^*\n]+?)\1([.!?]?)")
LEAD_WORDS = 3  # ``**Keeps.** Every byte is sealed.``: so few strong words lead in, the next sentence is the fact
_NAMES = ("name", "title", "description")


def read_notes(files: Mapping[str, str], *, kind: str = "", workspace: str | None = None) -> Found:
    """Return what notes hold. ``files``: path relative to the folder -> text; ``kind``: the type of all of them."""
    found = Found()
    notes = {path: read_note(text) for path, text in sorted(files.items())}
    names = _Names(notes)
    for path, note in notes.items():
        before = len(found.candidates)
        for one in _memories(path, note, kind, workspace):
            if isinstance(one, Skipped):
                found.skipped.append(one)
                continue
            key, memory, targets = one
            keys = dict.fromkeys(there for target in targets if (there := names.find(target, path)) is not None)
            found.candidates.append(Candidate(key, memory, tuple(("relates_to", there) for there in keys)))
        if len(found.candidates) == before and not note.pieces:
            found.skipped.append(Skipped(path, "it says nothing"))
    return found


class _Names:
    """How notes name each other: by path, or by a name anywhere in the folder."""

    def __init__(self, notes: Mapping[str, Note]) -> None:
        self._keys = {path: _first_key(path, note) for path, note in notes.items()}
        self._stems: dict[str, str] = {}
        for path, note in notes.items():
            stem = posixpath.splitext(posixpath.basename(path))[0]
            for name in (
                stem,
                *note.front.get("name", []),
                *note.front.get("title", []),
                *note.front.get("aliases", []),
            ):
                self._stems.setdefault(name.casefold(), path)

    def find(self, target: str, source: str) -> str | None:
        """Return the key of the first memory of the note that a link leads to; ``None`` where there is none."""
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        for path in (beside, target, f"{beside}.md", f"{target}.md"):
            if path in self._keys:
                return self._keys[path]
        path = self._stems.get(posixpath.splitext(posixpath.basename(target))[0].casefold(), "")
        return self._keys.get(path)


def _first_key(path: str, note: Note) -> str | None:
    if _is_whole(note):
        return path
    return next((f"{path}:{piece.line}" for piece in note.pieces if not is_pointer(piece.text)), None)


def _is_whole(note: Note) -> bool:
    """Whether a note is one memory: it says what it is about."""
    return any(name in note.front for name in _NAMES)


def _memories(
    path: str, note: Note, kind: str, workspace: str | None
) -> Iterator[Skipped | tuple[str, NewMemory, tuple[str, ...]]]:
    if _is_whole(note):
        yield _whole(path, note, kind, workspace)
        return
    for piece in note.pieces:
        key = f"{path}:{piece.line}"
        if is_pointer(piece.text):
            yield Skipped(key, "it only leads to another note")
        elif not any(letter.isalnum() for letter in piece.text):
            yield Skipped(key, "it says nothing")
        else:
            yield key, _of_piece(path, note, piece, kind, workspace), piece.links


def _whole(path: str, note: Note, kind: str, workspace: str | None) -> Skipped | tuple[str, NewMemory, tuple[str, ...]]:
    text = plain(note.text)
    said = " ".join(note.front.get("description", []))
    claim, body = (said, tuple(paragraphs(text))) if said else _prose(text)
    name = next((note.front[key][0] for key in ("title", "name") if key in note.front), "")
    if not claim:
        claim = name
    claim, body = within(claim, body)
    return path, _memory(note, kind or _kind_of(path, note), workspace, name or claim, claim, body), links_of(note.text)


def _of_piece(path: str, note: Note, piece: Piece, kind: str, workspace: str | None) -> NewMemory:
    text = plain(piece.text)
    claim, body = _shown(text, piece.headings) if _SHOWN.match(text) else _prose(text)
    strong = _STRONG.match(piece.text)
    if strong and strong[2] + strong[3] == claim and body and len(claim.split()) <= LEAD_WORDS:
        more, behind = claim_and_rest(body[0])
        claim, body = f"{claim} {more}", (*behind, *body[1:])
    claim, body = within(claim, body)
    inner = piece.headings[1:] if len(piece.headings) > 1 else piece.headings
    tags = tuple(slug(heading) for heading in reversed(inner))
    return _memory(note, kind or _kind_of(path, note), workspace, claim, claim, body, tags)


def _shown(text: str, headings: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return claim and paragraphs of code or a table: they do not say what they are, the headings above them do."""
    lines = (line.strip(" |`~") for line in text.splitlines() if not _FENCE.match(line))
    first = next((line for line in lines if any(letter.isalnum() for letter in line)), text)
    return ": ".join(headings) or first, tuple(paragraphs(text))


def _prose(text: str) -> tuple[str, tuple[str, ...]]:
    """Return claim and paragraphs. A text that begins with several lines says what it is about in the first one."""
    claim, rest = claim_and_rest(text)
    head, blank, tail = text.strip().partition("\n")
    if blank and (len(claim) > len(head) and ("\n\n" in claim or "```" in claim or claim == text.strip())):
        return head.strip().rstrip(":"), tuple(paragraphs(tail))
    return claim, tuple(rest)


def _memory(
    note: Note,
    kind: str,
    workspace: str | None,
    title: str,
    claim: str,
    body: Iterable[str],
    tags: tuple[str, ...] = (),
) -> NewMemory:
    own = [slug(tag.lstrip("#")) for name in ("tags", "tag", "keywords") for tag in note.front.get(name, [])]
    return NewMemory(
        title=title_of(plain(title)),
        type=kind,
        claim=plain(claim),
        body=tuple(body),
        workspace=workspace,
        tags=tuple(dict.fromkeys((*own, *tags))),
        aliases=tuple(note.front.get("aliases", [])),
        valid_from=_day_of(note),
    )


def _kind_of(path: str, note: Note) -> str:
    for said in (*note.front.get("type", []), *note.front.get("node_type", [])):
        kind = said.strip().lower().replace("-", "_")
        if kind in _KINDS or (kind in WRITABLE_TYPES and kind != "task"):
            return _KINDS.get(kind, kind)
    return "procedural" if posixpath.basename(path).lower() in INSTRUCTIONS else "semantic"


def _day_of(note: Note) -> str | None:
    """Return since when a note says that it holds: a day or a time of its front matter."""
    for name in ("date", "created", "created_at", "valid_from"):
        for said in note.front.get(name, []):
            if is_written_form(said):
                return said
            try:
                when = datetime.fromisoformat(said)
            except ValueError:
                continue
            return written(when.astimezone(UTC)) if when.tzinfo else f"{when:%Y-%m-%d}"
    return None
