"""The sessions of GitHub Copilot CLI: logs of events, their names, and the documents that older versions wrote."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from fabula.hosts.walking import Walker, source_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fabula.kernel.records import SourceFile
    from fabula.record.sources import Container, Normaliser

EVENTS, WORKSPACE = "events.jsonl", "workspace.yaml"


class CopilotSource:
    """What lies below one ``.copilot`` folder (``record.sources.Source``)."""

    host = "copilot"

    def __init__(self, home: Path) -> None:
        self.home = home
        self._walker = Walker()

    def discover(self) -> Iterator[SourceFile]:
        """Find each session's log and name, then the older documents."""
        self._walker = Walker()
        if not self.home.is_dir():
            return
        for entry in self._walker.entries(str(self.home / "session-state")):
            if entry.is_dir():
                yield from self._session(entry.path, entry.name)
            elif entry.name.endswith(".jsonl"):
                yield from self._file(entry.path, "session", entry.name.removesuffix(".jsonl"))
        for entry in self._walker.entries(str(self.home / "history-session-state")):
            if entry.name.endswith(".json"):
                yield from self._file(entry.path, "session", "")

    def problems(self) -> list[tuple[str, str]]:
        """Return (path, reason) of what the last discovery could not look into."""
        return self._walker.problems

    def container(self, file: SourceFile) -> Container:
        """Open a file's byte form."""
        if file.kind == "meta":
            from fabula.record.containers.whole_file import WholeFile

            return WholeFile(file.path)
        if file.path.endswith(".json"):
            from fabula.record.containers.document import JsonDocument

            return JsonDocument(file.path, "timeline")
        from fabula.record.containers.jsonl import JsonLines

        return JsonLines(file.path)

    def normaliser(self, file: SourceFile, state: dict[str, Any] | None) -> Normaliser:
        """Return the reader of a file's values."""
        if file.kind == "meta":
            from fabula.hosts.copilot.workspace import WorkspaceNormaliser

            return WorkspaceNormaliser(file, state)
        if file.path.endswith(".json"):
            from fabula.hosts.copilot.timeline import TimelineNormaliser

            return TimelineNormaliser(file, state)
        from fabula.hosts.copilot.normaliser import CopilotNormaliser

        return CopilotNormaliser(file, state)

    def _session(self, folder: str, session: str) -> Iterator[SourceFile]:
        yield from self._file(os.path.join(folder, EVENTS), "session", session)
        yield from self._file(os.path.join(folder, WORKSPACE), "meta", session)

    def _file(self, path: str, kind: str, session: str) -> Iterator[SourceFile]:
        found = self._walker.one(path)
        if found is not None:
            yield source_file(self.host, path, kind, session, found)
