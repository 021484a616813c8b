"""The contents of a file after each thing that happened to it: forward from what is known, backward where that fails.

Pure. Events come in the order in which they took effect. What a call did counts only when its result says that it
worked. Complete reads and backups are anchors: equal to the state they add nothing, different they show that the
file was changed out of band.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from fabula.kernel.values import define, frozen
from fabula.record.history.anchors import Contents, before_edit, changed_by_person, read_back
from fabula.record.history.edits import applied, inverted

if TYPE_CHECKING:
    from fabula.record.history.actions import Action

Fidelity = Literal["exact", "derived", "partial"]

OUT_OF_BAND = "changed out of band before this"


@frozen
class Turn:
    """Where in the record something happened. Ids are texts; ``time`` in ms."""

    record: str
    thread: str
    session: str
    host: str
    project: str
    time: int | None


@define
class Event:
    """Something that happened to the file: a call with its result, or a backup that the client made."""

    turn: Turn
    path: str
    action: Action | None = None
    failed: bool = False
    answered: bool = True
    answer: str = ""  # the result's text
    detail: Any = None  # what the client kept beside the result
    backup: str | None = None  # contents, for a backup
    base: str | None = None  # contents under the old name, for a move


@define
class Version:
    """The file after an event. ``content`` is ``None`` when it cannot be rebuilt, or when the file was deleted.

    ``exact``: as the record tells it. ``derived``: rebuilt backward from a later state. ``partial``: not rebuilt.
    """

    number: int
    path: str
    turn: Turn
    operation: str
    tool: str
    content: str | None
    fidelity: Fidelity
    note: str = ""
    deleted: bool = False
    action: Action | None = None


def replay(events: list[Event]) -> list[Version]:
    """Return the versions of one file, numbered from 1."""
    versions: list[Version] = []
    state: str | None = None
    for event in events:
        if event.action is None or event.action.operation == "read":
            state = _anchored(event, state, versions)
        elif not event.failed:
            state = _changed(event, event.action, state, versions)
        elif _may_have_written(event.action):
            state = None
            _add(versions, event, None, "the command failed; whether it wrote the file is not told")
    _rebuild_backward(versions)
    return versions


def _may_have_written(action: Action) -> bool:
    """A shell command that fails may have written before it failed; an editing tool that fails changed nothing."""
    return action.operation in ("write", "edit") and not action.replacements and action.tool not in _EDITORS


_EDITORS = frozenset(
    ("Write", "Edit", "MultiEdit", "NotebookEdit", "write", "edit", "multiedit", "write_file", "replace", "create",
     "create_file", "edit_file", "str_replace", "str_replace_editor", "str_replace_based_edit_tool", "apply_patch",
     "patch", "write_to_file")
)  # fmt: skip


def _anchored(event: Event, state: str | None, versions: list[Version]) -> str | None:
    """Take in a complete read or a backup."""
    seen: Contents | None
    if event.action is None:
        seen = None if event.backup is None else Contents(event.backup)
    else:
        seen = None if event.failed or event.action.partial else read_back(event.answer, event.detail)
    if seen is None or seen.same_as(state):
        return state
    notes = [OUT_OF_BAND] if versions and (state is not None or versions[-1].content is None) else []
    if not seen.end_known:
        notes.append("whether the last line ends the file is not told")
    version = _add(versions, event, seen.text, "; ".join(notes))
    if not seen.end_known:
        version.fidelity = "derived"
    return seen.text


def _changed(event: Event, action: Action, state: str | None, versions: list[Version]) -> str | None:
    """Take in a call that worked, or whose result is not known."""
    if action.operation == "delete":
        version = _add(versions, event, None, "deleted")
        version.deleted, version.fidelity = True, "exact"
        return None
    if action.moved_from:
        state = event.base
    before = before_edit(event.detail)
    if before is not None and before != state:
        if before or versions:
            note = f"as it was before the edit; {OUT_OF_BAND}" if versions else "as it was before the edit"
            _add(versions, event, before, note, operation="before")
        state = before
    after = changed_by_person(event.detail, state)
    after = applied(action, state) if after is None else after
    note = f"moved from {action.moved_from}" if action.moved_from else ""
    if after is None:
        note = "; ".join(filter(None, [note, _why_not(action, state, known_before=bool(versions))]))
    if not event.answered:
        note = "; ".join(filter(None, [note, "no result recorded: it may not have happened"]))
    version = _add(versions, event, after, note)
    if after is not None and not event.answered:
        version.fidelity = "derived"
    return after


def _why_not(action: Action, state: str | None, *, known_before: bool) -> str:
    if action.operation == "write":
        return "the call does not tell what was written" if action.content is None else "appended to unknown contents"
    if not action.replacements and not action.hunks and action.insert_after < 0:
        return "the call does not tell what it changed"
    if state is None:
        return "the contents before this are not known"
    return "does not apply to the last known contents: " + OUT_OF_BAND if known_before else "does not apply"


def _add(versions: list[Version], event: Event, content: str | None, note: str, operation: str = "") -> Version:
    action = event.action
    tool = action.tool if action is not None else ""
    made = Version(
        len(versions) + 1,
        event.path,
        event.turn,
        operation or (action.operation if action is not None else "snapshot"),
        tool,
        content,
        "partial" if content is None else "exact",
        note,
        action=None if operation else action,
    )
    versions.append(made)
    return made


def _rebuild_backward(versions: list[Version]) -> None:
    """Rebuild versions before a known one by taking back what came between."""
    for index in range(len(versions) - 2, -1, -1):
        version, later = versions[index], versions[index + 1]
        if version.content is not None or version.deleted or later.content is None:
            continue
        if later.action is None or later.action.operation == "read":
            content: str | None = later.content
        else:
            content = inverted(later.action, later.content)
        if content is not None:
            version.content, version.fidelity = content, "derived"
            version.note = "; ".join(filter(None, [version.note, f"rebuilt backward from version {later.number}"]))
