"""The chats of Gemini CLI: documents and logs of each project, subagents' chats, and the log of prompts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.hosts.gemini.projects import Projects
from fabula.hosts.walking import Walker, source_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabula.kernel.records import SourceFile
    from fabula.record.sources import Container, Normaliser

_CHATS = (".json", ".jsonl")


class GeminiSource:
    """What lies below one ``.gemini`` folder (``record.sources.Source``)."""

    host = "gemini"

    def __init__(self, home: Path) -> None:
        self.home = home
        self._walker = Walker()
        self._projects = Projects(home)
        self._chats: set[str] = set()

    def discover(self) -> Iterator[SourceFile]:
        """Find the chats of every project, then the logs of prompts."""
        self._walker = Walker()
        self._projects = Projects(self.home)
        self._chats = set()
        tmp = str(self.home / "tmp")
        logs: list[str] = []
        for project in self._walker.folders(tmp):
            for path, found in self._walker.files(os.path.join(tmp, project, "chats"), _CHATS):
                session, parent = _session_of(os.path.relpath(path, os.path.join(tmp, project, "chats")))
                if not session and not parent:
                    self._chats.add(_short(path))
                kind = "subagent" if parent else "session"
                yield source_file(self.host, path, kind, session, found, parent=parent)
            logs.append(os.path.join(tmp, project, "logs.json"))
        for path in logs:
            listed = self._walker.one(path)
            if listed is not None:
                yield source_file(self.host, path, "history", "", listed)

    def problems(self) -> list[tuple[str, str]]:
        """Return (path, reason) of what the last discovery could not look into."""
        return self._walker.problems

    def container(self, file: SourceFile) -> Container:
        """Open a file's byte form."""
        if file.kind == "history" or file.path.endswith(".json"):
            from fabula.record.containers.document import JsonDocument

            if file.kind == "history":
                return JsonDocument(file.path, "logs", marks=("sessionId", "message"))
            return JsonDocument(file.path, "messages")
        from fabula.record.containers.jsonl import JsonLines

        return JsonLines(file.path)

    def normaliser(self, file: SourceFile, state: dict[str, Any] | None) -> Normaliser:
        """Return the reader of a file's values."""
        below = Path(file.path).parts[len((self.home / "tmp").parts) :]
        cwd = self._projects.cwd(below[0]) if below else ""
        if file.kind == "history":
            from fabula.hosts.gemini.prompts import PromptLogNormaliser

            return PromptLogNormaliser(self._chats, state, cwd)
        from fabula.hosts.gemini.normaliser import GeminiNormaliser

        return GeminiNormaliser(file, state, cwd)


def _session_of(below: str) -> tuple[str, str]:
    """Return (session, parent session) as far as a chat's path tells: only a subagent's path names both."""
    parts = Path(below).parts
    return (os.path.splitext(parts[-1])[0], parts[0]) if len(parts) > 1 else ("", "")


def _short(path: str) -> str:
    """Return the beginning of the session's id, which ends a chat's file name."""
    from fabula.hosts.gemini.prompts import SHORT

    return os.path.splitext(os.path.basename(path))[0][-SHORT:]
