"""The verb ``record resume``: the command that opens a session again in the agent that it belongs to."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.kernel.commands import record_command
from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.record.reading.catalogue import SourceRow, session_by_row, sources_of_session, thread_by_row
from fabula.record.reading.identify import identify, thread_of

if TYPE_CHECKING:
    from fabula.app.wiring import App
    from fabula.record.reading.catalogue import SessionRow

#: How each agent's program opens a session: the words before its id.
_OPENERS: dict[str, tuple[str, ...]] = {
    "claude": ("claude", "--resume"),
    "codex": ("codex", "resume"),
    "gemini": ("gemini", "--resume"),
    "opencode": ("opencode", "--session"),
    "kimi": ("kimi", "--session"),
    "pi": ("pi", "--session"),
    "copilot": ("copilot", "--resume"),
    "goose": ("goose", "session", "--resume", "--session-id"),
    "cursor": ("cursor-agent", "--resume"),
}
#: The variable that points an agent to its folder, the folder's usual name, and the folder below it with transcripts.
_FOLDERS: dict[str, tuple[str, str, str]] = {
    "claude": ("CLAUDE_CONFIG_DIR", ".claude", "projects"),
    "codex": ("CODEX_HOME", ".codex", "sessions"),
    "kimi": ("KIMI_CODE_HOME", ".kimi-code", "sessions"),
    "kimi-cli": ("KIMI_SHARE_DIR", ".kimi", "sessions"),  # the program of the same name before it
    "pi": ("PI_CODING_AGENT_DIR", ".pi/agent", "sessions"),
    "copilot": ("COPILOT_HOME", ".copilot", "session-state"),
    "cursor": ("CURSOR_DATA_DIR", ".cursor", "chats"),
}
_SAFE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@frozen
class ResumeRequest:
    """``id``: a session, or a thread or record of one."""

    id: str
    print_only: bool = False


@frozen
class ResumeResult:
    """The command (``words``, in folder ``cwd``, with ``environment``), as one line of shell, and what to know first.

    The command line runs it unless ``print_only``.
    """

    session: str
    host: str
    words: tuple[str, ...]
    cwd: str
    environment: dict[str, str]
    shell: str
    notes: tuple[str, ...]
    print_only: bool


def resume(app: App, request: ResumeRequest) -> ResumeResult:
    """Find out how to open a session again.

    Raises ``ERR_NOT_FOUND``, ``ERR_AMBIGUOUS``, ``ERR_CLIENT_MISSING`` when the agent's program is not installed, and
    ``ERR_STALE`` when the session's file must be restored first (when only printing, notes say so instead).
    """
    app.refresh()
    session, notes = _session_of(app, request.id)
    words = (*_opener(session), session.id)
    live, environment = _live_file(app, session)
    if not live:
        notes.append(f"its transcript is gone; restore it first: {_restore(app, session)}")
    if session.cwd and not Path(session.cwd).is_dir():
        notes.append(f"its folder is gone: {session.cwd}")
    if not request.print_only:
        _check(app, session, words, live=live, restore=_restore(app, session))
    shell = " ".join([*(f"{name}={shlex.quote(value)}" for name, value in environment.items()), shlex.join(words)])
    if session.cwd:
        shell = f"cd {shlex.quote(session.cwd)} && {shell}"
    return ResumeResult(
        session.id, session.host, words, session.cwd, environment, shell, tuple(notes), request.print_only
    )


def _session_of(app: App, text: str) -> tuple[SessionRow, list[str]]:
    """Find the session to open: of a subagent, the one that spawned it."""
    reader = app.reader()
    target = identify(reader, text, "session", "thread", "record")
    if target.kind != "session":
        target = identify(reader, thread_by_row(reader, thread_of(reader, target)).session, "session")
    session, notes = session_by_row(reader, target.id), []
    met: set[int] = set()
    while session.kind in {"subagent", "compaction"} and session.row not in met:
        met.add(session.row)
        found = reader.execute(
            "select p.id, p.uid from sessions s join sessions p on p.id = s.parent_id where s.id = ?", (session.row,)
        ).fetchone()
        if found is None:
            raise FabulaError("ERR_NOT_FOUND", f"{session.id} is a subagent whose session is not in the record")
        notes.append(f"{session.id} is a subagent; this opens the session that started it")
        session = session_by_row(reader, found[0])
    if session.kind == "prompts" or all(source.aside for source in sources_of_session(reader, session.row)):
        raise FabulaError(
            "ERR_NOT_FOUND",
            f"of session {session.id} only the prompts were recorded: there is nothing to open",
            record_command("session", session.id),
        )
    return session, notes


def _opener(session: SessionRow) -> tuple[str, ...]:
    opener = _OPENERS.get(session.host)
    if opener is None or not _SAFE_ID.fullmatch(session.id):
        raise FabulaError(
            "ERR_NOT_FOUND",
            f"session {session.id!r} of {session.host} cannot be opened by a command",
            record_command("export", session.id),
        )
    return opener


def _transcripts(app: App, session: SessionRow) -> list[SourceRow]:
    sources = sources_of_session(app.reader(), session.row)
    return [source for source in sources if source.generation < 0 and not source.aside]


def _live_file(app: App, session: SessionRow) -> tuple[bool, dict[str, str]]:
    """Say whether a transcript of the session is on disk, and the environment in which the agent finds it."""
    for source in _transcripts(app, session):
        path = Path(source.path.partition("#")[0])
        if path.exists():
            return True, _environment(app, session.host, path)
    return False, {}


def _environment(app: App, host: str, path: Path) -> dict[str, str]:
    if host == "kimi" and "agents" not in path.parts:
        host = "kimi-cli"
    if host not in _FOLDERS:
        return {}
    variable, usual, below = _FOLDERS[host]
    root = next((parent.parent for parent in path.parents if parent.name == below), None)
    return {} if root is None or root == app.user_home / usual else {variable: str(root)}


def _restore(app: App, session: SessionRow) -> str:
    path = next((source.path for source in _transcripts(app, session)), "FILE")
    return f"fabula record restore {shlex.quote(session.id)} --output {shlex.quote(path)}"


def _check(app: App, session: SessionRow, words: tuple[str, ...], *, live: bool, restore: str) -> None:
    if shutil.which(words[0], path=app.environment.get("PATH")) is None:
        raise FabulaError(
            "ERR_CLIENT_MISSING",
            f"{words[0]} is not on the PATH",
            f"install it, or print the command: fabula record resume {shlex.quote(session.id)} --print",
        )
    if not live:
        raise FabulaError("ERR_STALE", f"the transcript of session {session.id} is gone from disk", restore)
    if session.cwd and not Path(session.cwd).is_dir():
        raise FabulaError(
            "ERR_PATH", f"the folder of session {session.id} is gone", f"mkdir -p {shlex.quote(session.cwd)}"
        )
