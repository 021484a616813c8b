"""The verb ``record file``: what happened to a file, across sessions, agents and worktrees, and its contents then."""

from __future__ import annotations

import difflib
import shlex
from typing import TYPE_CHECKING

from fabula.app.record.reading import clean
from fabula.kernel.clock import format_time, parse_time
from fabula.kernel.commands import record_command
from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.record.history.chain import versions_of
from fabula.record.history.gather import Gatherer
from fabula.record.history.naming import chains, files_meant, in_project, matching
from fabula.record.history.paths import resolve

if TYPE_CHECKING:
    from fabula.app.access import Freshness
    from fabula.app.wiring import App
    from fabula.record.history.naming import Named
    from fabula.record.history.replay import Version

_CANDIDATES = 12


@frozen
class FileRequest:
    """``path``: absolute, relative to here, or its tail. ``at`` in ms; ``diff``: two numbers or times."""

    path: str
    at: int | None = None
    diff: tuple[str, ...] | None = None
    show: int | None = None
    all: bool = False


@frozen
class FileVersion:
    """The file after one event. ``fidelity``: ``exact``, ``derived`` (rebuilt backward) or ``partial`` (not rebuilt).

    ``bytes`` is ``None`` where the contents are not known. ``read_on`` is the command that shows the turn.
    """

    number: int
    path: str
    time: int | None
    operation: str
    tool: str
    fidelity: str
    deleted: bool
    bytes: int | None
    note: str
    record: str
    thread: str
    session: str
    host: str
    project: str
    read_on: str


@frozen
class FileResult:
    """``versions`` always; ``shown`` is the number of the version whose ``content`` is given; ``diff`` is unified."""

    path: str
    paths: tuple[str, ...]
    versions: tuple[FileVersion, ...]
    shown: int | None
    content: str | None
    diff: str | None
    unreadable: tuple[tuple[str, str], ...]
    fresh: Freshness


def file(app: App, request: FileRequest) -> FileResult:
    """Tell a file's history.

    Raises ``ERR_NOT_FOUND``, ``ERR_AMBIGUOUS``, ``ERR_NOT_RECONSTRUCTIBLE``, ``ERR_USAGE``.
    """
    fresh = app.refresh()
    named = _named(app, request)
    gatherer = Gatherer(app.reader(), app.loader())
    versions = _versions(gatherer, named)
    if not versions:
        raise FabulaError("ERR_NOT_FOUND", f"nothing that happened to {request.path} can be told", "fabula record scan")
    shown = _asked(request, versions)
    difference = _difference(request, versions)
    return FileResult(
        named[0].path,
        tuple(one.path for one in named),
        tuple(_line(version) for version in versions),
        shown.number if shown else None,
        clean(shown.content) if shown and shown.content is not None else None,
        clean(difference) if difference is not None else None,
        tuple(gatherer.unreadable),
        fresh,
    )


def _named(app: App, request: FileRequest) -> list[Named]:
    """Find the one file that is meant, in all its worktrees."""
    here = resolve(request.path, str(app.cwd))
    found = matching(app.reader(), request.path)
    exact = [one for one in found if one.path == here]
    if not exact and not request.all:
        inside = in_project(found, app.project_id())
        if not inside and found:
            raise FabulaError(
                "ERR_NOT_FOUND",
                f"no session of this repository touched {request.path}; others did",
                f"fabula record file --all {shlex.quote(request.path)}",
            )
        found = inside
    groups = files_meant(found, here if exact else request.path)
    if not groups:
        raise FabulaError(
            "ERR_NOT_FOUND",
            f"no recorded tool call touched a file {request.path}",
            f"fabula record search {shlex.quote(request.path)}",
        )
    if len(groups) > 1:
        candidates = sorted(group[0].path for group in groups)
        some = ", ".join(candidates[:_CANDIDATES]) + (" …" if len(candidates) > _CANDIDATES else "")
        raise FabulaError(
            "ERR_AMBIGUOUS",
            f"{request.path} can mean {len(candidates)} files: {some}",
            *(record_command("file", path) for path in candidates[:_CANDIDATES]),
        )
    return groups[0]


def _versions(gatherer: Gatherer, named: list[Named]) -> list[Version]:
    """Replay each path on its own and number the versions of all of them by time."""
    placed: list[tuple[int, int, Version]] = []
    for chain in chains(named):
        latest = 0  # times may run backward, the order of effect may not
        for version in versions_of(gatherer, {one.row: one.path for one in chain}):
            latest = max(latest, version.turn.time or 0)
            placed.append((latest, len(placed), version))
    versions = [version for *_, version in sorted(placed, key=lambda one: one[:2])]
    for number, version in enumerate(versions, 1):
        version.number = number
    return versions


def _asked(request: FileRequest, versions: list[Version]) -> Version | None:
    """Return the version whose contents were asked for, which can be shown."""
    if request.show is not None:
        return _rebuilt(_by_number(request.show, versions))
    if request.at is not None:
        return _rebuilt(_by_time(request.at, versions))
    return None


def _difference(request: FileRequest, versions: list[Version]) -> str | None:
    if not request.diff:
        return None
    if len(request.diff) != 2:
        raise FabulaError("ERR_USAGE", "--diff takes two edit numbers or times", "fabula help record file")
    older, newer = (_rebuilt(_by_text(word, versions)) for word in request.diff)
    lines = difflib.unified_diff(
        (older.content or "").splitlines(keepends=True),
        (newer.content or "").splitlines(keepends=True),
        f"{older.path} (version {older.number})",
        f"{newer.path} (version {newer.number})",
    )
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)


def _by_text(word: str, versions: list[Version]) -> Version:
    if word.isdigit():
        return _by_number(int(word), versions)
    moment = parse_time(word)
    if moment is None:
        raise FabulaError("ERR_USAGE", f"{word!r} is neither an edit number nor a time", "fabula help record file")
    return _by_time(moment, versions)


def _by_number(number: int, versions: list[Version]) -> Version:
    if not 1 <= number <= len(versions):
        raise FabulaError(
            "ERR_NOT_FOUND",
            f"there is no version {number}: the record tells of versions 1 to {len(versions)}",
            record_command("file", versions[0].path),
        )
    return versions[number - 1]


def _by_time(moment: int, versions: list[Version]) -> Version:
    before = [version for version in versions if (version.turn.time or 0) <= moment]
    if not before:
        raise FabulaError(
            "ERR_NOT_FOUND",
            f"the record tells of this file only from {format_time(versions[0].turn.time)}",
            record_command("file", versions[0].path),
        )
    return before[-1]


def _rebuilt(version: Version) -> Version:
    if version.content is None and not version.deleted:
        raise FabulaError(
            "ERR_NOT_RECONSTRUCTIBLE",
            f"version {version.number} cannot be rebuilt: {version.note}",
            record_command("file", version.path),
            record_command("block", version.turn.record),
        )
    return version


def _line(version: Version) -> FileVersion:
    turn = version.turn
    size = None if version.content is None else len(version.content.encode("utf-8", "surrogatepass"))
    return FileVersion(
        version.number, version.path, turn.time, version.operation, version.tool, version.fidelity, version.deleted,
        size, version.note, turn.record, turn.thread, turn.session, turn.host, turn.project,
        record_command("thread", turn.thread) if turn.thread else record_command("block", turn.record),
    )  # fmt: skip
