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

#: What lies in a session's folder: (name, kind).
_FILES = (("events.jsonl", "session"), ("workspace.yaml", "meta"))


class CopilotSource:
    """What lies below one ``.copilot`` folder (``record.sources.Source``)."""

    host = "copilot"

    def __init__(self, home: Path) -> None:
        self.home = home
        self._walker = Walker()

    def discover(self) -> Iterator[SourceFile]:
        """Find each session's log and name, then the older documents."""
        walker = self._walker = Walker()
        if not self.home.is_dir():
            return
        for entry in walker.entries(str(self.home / "session-state")):
            folder, name = entry.path, entry.name
            if entry.is_dir():
                for file, kind in _FILES:
                    path = f"{folder}{os.sep}{file}"
                    found = walker.one(path)
                    if found is not None:
                        yield source_file(self.host, path, kind, name, found)
            elif name.endswith(".jsonl") and (found := walker.one(folder)) is not None:
                yield source_file(self.host, folder, "session", name.removesuffix(".jsonl"), found)
        for entry in walker.entries(str(self.home / "history-session-state")):
            if entry.name.endswith(".json") and (found := walker.one(entry.path)) is not None:
                yield source_file(self.host, entry.path, "session", "", found)

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
