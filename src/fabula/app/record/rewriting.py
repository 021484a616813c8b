"""What the verbs that rewrite a transcript share: which file a session lies in, whether it is in use, and the one call
of the protocol (``record.rewriting.protocol``).
"""

from __future__ import annotations

import os
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from fabula.kernel.commands import record_command
from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.record.map.files import file_at
from fabula.record.reading.catalogue import SIDE_FILES, session_by_row, sources_of_session
from fabula.record.reading.identify import identify
from fabula.record.rewriting.plan import Plan, Snapshot, make_plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from fabula.app.wiring import App
    from fabula.kernel.records import SourceFile
    from fabula.record.map.files import KnownFile
    from fabula.record.reading.catalogue import SourceRow
    from fabula.record.rewriting.plan import Rule
    from fabula.record.rewriting.protocol import Planner, Rewritten
    from fabula.record.sources import Source
    from fabula.record.vault.vault import Vault

_SHOWN = 8  # files that an ambiguous session names


@frozen
class Target:
    """The one file on disk that a session lies in, and the source that found it."""

    session: str
    host: str
    path: str
    file: SourceFile
    source: Source


def find_target(app: App, text: str) -> Target:
    """Find the transcript of a session, by its id, a beginning of it, or the file's path.

    Raises ``ERR_NOT_FOUND``, ``ERR_AMBIGUOUS``, ``ERR_STALE`` (gone from disk), ``ERR_HOST`` (no file of JSON lines).
    """
    app.refresh()
    named = _at_path(app, text) if text else None
    if named is not None:
        return _target(app, "", named.host, named.path)
    session = session_by_row(app.reader(), identify(app.reader(), text, "session").id)
    found = [source for source in sources_of_session(app.reader(), session.row) if not source.aside]
    live = [source for source in found if source.generation < 0 and not source.gone]
    if not live:
        raise _gone(session.id, found)
    own = [source for source in live if session.id in Path(source.path).name]
    if len(own or live) > 1:
        raise FabulaError(
            "ERR_AMBIGUOUS",
            f"{len(own or live)} files hold session {session.id}: name one by its path",
            *(quote(source.path) for source in (own or live)[:_SHOWN]),
        )
    return _target(app, session.id, session.host, (own or live)[0].path)


def _at_path(app: App, text: str) -> KnownFile | None:
    """Return the live file at a path, also where links lead to it another way than its source went."""
    path = os.path.normpath(app.cwd / text)
    named = file_at(app.reader(), path, -1)
    if named is not None or os.sep not in text:
        return named
    real, name = os.path.realpath(path), os.path.basename(path)
    rows = app.reader().execute("select path from files where generation < 0 and path like ?", (f"%{name}",))
    same = (found for (found,) in rows.fetchall() if os.path.realpath(str(found)) == real)
    return next((file_at(app.reader(), str(found), -1) for found in same), None)


def _gone(session: str, sources: list[SourceRow]) -> FabulaError:
    """The transcript is not on disk: it can be restored where it was, or beside generations that were imported."""
    sealed = [source for source in sources if source.sealed]
    if not sealed:
        return FabulaError("ERR_NOT_FOUND", f"session {session} has no transcript", record_command("session", session))
    lost = next((source.path for source in sealed if source.generation < 0), None)
    if lost is not None:
        restore = f"fabula record restore {quote(lost)} --output {quote(lost)}"
        return FabulaError("ERR_STALE", f"the transcript of session {session} is gone from disk", restore)
    restore = f"fabula record restore {quote(sealed[0].path)} --output FILE"
    return FabulaError("ERR_STALE", f"of session {session} there are only sealed generations, no transcript", restore)


def _target(app: App, session: str, host: str, path: str) -> Target:
    if not path.endswith(".jsonl"):
        raise FabulaError(
            "ERR_HOST",
            f"{path}, of {host}, is no file of JSON lines: Fabula does not rewrite it",
            record_command("export", session) if session else "fabula record sessions --all",
        )
    file, source = _look(app, path)
    if file.kind in SIDE_FILES:
        raise FabulaError("ERR_HOST", f"{path} is no transcript of a session", "fabula record sessions --all")
    return Target(session or file.session or Path(path).stem, host, path, file, source)


def _look(app: App, path: str) -> tuple[SourceFile, Source]:
    """Find a file among those that the sources name. Raises ``ERR_STALE`` when it is not there."""
    for source in app.sources():
        for file in source.discover():
            if file.path == path and not file.immutable:
                return file, source
    raise FabulaError("ERR_STALE", f"{path} is gone from disk", "fabula record scan")


def read_snapshot(target: Target) -> Snapshot:
    """Read the transcript as it is now, for a preview. Raises ``ERR_PATH``, ``ERR_READ_ONLY``."""
    from fabula.record.rewriting.source import OpenSource

    with OpenSource(target.path) as opened:
        return opened.read()


def preview(app: App, target: Target, rule: Rule) -> Plan:  # noqa: ARG001 - the same form as ``rewrite``
    """Plan without writing. Raises what the rule refuses with."""
    snapshot = read_snapshot(target)
    return make_plan(snapshot, rule(snapshot))


def rewrite(app: App, target: Target, rule: Rule, *, kind: str, live: bool = False) -> Rewritten:
    """Rewrite a transcript by a rule. Raises as ``record.rewriting.protocol.Job.run``.

    ``live``: a person was asked and takes it on that the session is in use.
    """

    def planner(snapshot: Snapshot, _vault: Vault, _generation: int) -> Plan:
        return make_plan(snapshot, rule(snapshot))

    return run_planner(app, target, planner, kind=kind, live=live)


def run_planner(
    app: App, target: Target, planner: Planner, *, kind: str, live: bool = False, slims: bool = True
) -> Rewritten:
    """Rewrite a transcript by a planner that may read the vault. Raises as :func:`rewrite`."""
    from fabula.record.rewriting.protocol import Job

    job = Job(
        home=app.home,
        clock=app.clock,
        source=target.source,
        find=lambda: _look(app, target.path)[0],
        require_idle=lambda file: require_idle(app, target, file, live=live),
        kind=kind,
        slims=slims,
    )
    app.record.scan()  # also where nothing is new: a map of another vault is made anew
    app.record.close()  # what it holds open shows the file as it was
    return job.run(planner)


def require_idle(app: App, target: Target, file: SourceFile, *, live: bool = False) -> None:
    """Raise ``ERR_LIVE`` when the session is in use.

    ``live`` lets a session pass that an agent may come back to, but no file that a process has open for writing: it
    would go on writing into the one that was replaced.
    """
    from fabula.record.rewriting.liveness import writer_of, written_recently

    writer = writer_of(file.path)
    if writer is not None:
        raise FabulaError(
            "ERR_LIVE", f"process {writer} has {file.path} open for writing", "close it, then repeat the command"
        )
    if live:
        return
    process = _process_of(app, target)
    if process is not None:
        raise _in_use(target, f"its agent runs as process {process}")
    age = written_recently(file.path, app.clock.now_ms())
    if age is not None:
        raise _in_use(target, f"its transcript was written {age} seconds ago")


def _in_use(target: Target, why: str) -> FabulaError:
    return FabulaError(
        "ERR_LIVE",
        f"session {target.session} is in use: {why}",
        "close the session, wait a minute, and repeat the command",
        "or repeat it with --live, at a terminal",
    )


def _process_of(app: App, target: Target) -> int | None:  # noqa: ARG001 - other hosts may ask the settings
    """Return the agent's process in which the session is open, where the host says so."""
    asked: dict[str, Callable[[str], int | None]] = {"claude": lambda session: _claude_process(session, target.path)}
    ask = asked.get(target.host)
    return ask(target.file.parent_session or target.session) if ask else None


def _claude_process(session: str, path: str) -> int | None:
    from fabula.hosts.claude.running import process_of

    config = next((parent.parent for parent in Path(path).parents if parent.name == "projects"), None)
    return None if config is None else process_of(session, config)
