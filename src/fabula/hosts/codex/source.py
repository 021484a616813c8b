"""The transcripts of Codex: rollouts (dated, flat, archived; plain or compressed), prompt history, session names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from fabula.hosts.walking import Walker, source_file
from fabula.record.sources import COMPRESSED_SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fabula.kernel.records import SourceFile
    from fabula.record.sources import Container, Normaliser

_ID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_LINES = (".jsonl", *(f".jsonl{suffix}" for suffix in COMPRESSED_SUFFIXES))
_FOLDERS = ("sessions", "archived_sessions")


class CodexSource:
    """What lies below one Codex home (``record.sources.Source``)."""

    host = "codex"

    def __init__(self, home: Path) -> None:
        self.home = home
        self._walker = Walker()
        self._with_transcript: set[str] = set()

    def discover(self) -> Iterator[SourceFile]:
        """Find rollouts, then the lists that lean on them."""
        self._walker = Walker()
        self._with_transcript = set()
        for folder in _FOLDERS:
            for path, found in self._walker.files(str(self.home / folder), (*_LINES, ".json")):
                name = os.path.basename(path)
                if name.endswith(".json") and not name.startswith("rollout-"):
                    continue
                session = session_in(name)
                self._with_transcript.add(session)
                yield source_file(self.host, path, "session", session, found)
        for name, kind in (("history.jsonl", "history"), ("session_index.jsonl", "names")):
            found_list = self._walker.one(str(self.home / name))
            if found_list is not None:
                yield source_file(self.host, str(self.home / name), kind, "", found_list)

    def problems(self) -> list[tuple[str, str]]:
        """Return (path, reason) of what the last discovery could not look into."""
        return self._walker.problems

    def container(self, file: SourceFile) -> Container:
        """Open a file's byte form."""
        if file.path.endswith(COMPRESSED_SUFFIXES):
            from fabula.record.containers.compressed import CompressedJsonLines

            return CompressedJsonLines(file.path)
        if file.path.endswith(".json"):
            from fabula.record.containers.document import JsonDocument

            return JsonDocument(file.path, "items")
        from fabula.record.containers.jsonl import JsonLines

        return JsonLines(file.path)

    def normaliser(self, file: SourceFile, state: dict[str, Any] | None) -> Normaliser:
        """Return the reader of a file's values."""
        if file.kind == "history":
            from fabula.hosts.codex.lists import HistoryNormaliser

            return HistoryNormaliser(self._with_transcript, state)
        if file.kind == "names":
            from fabula.hosts.codex.lists import NamesNormaliser

            return NamesNormaliser(state)
        from fabula.hosts.codex.normaliser import CodexNormaliser

        return CodexNormaliser(file, state)


def session_in(name: str) -> str:
    """Return the session id in a rollout's file name: the first of its ids (a second one names a reverted branch)."""
    import re

    found = re.search(_ID, name)
    return found[0].lower() if found else ""
