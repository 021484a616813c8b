"""The sessions of Pi: one file of JSON lines each, in a folder for every working folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from fabula.hosts.walking import Walker, source_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from fabula.kernel.records import SourceFile
    from fabula.record.sources import Container, Normaliser


class PiSource:
    """What lies below Pi's folders of sessions (``record.sources.Source``)."""

    host = "pi"

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = tuple(folders)
        self._walker = Walker()

    def discover(self) -> Iterator[SourceFile]:
        """Find the sessions, each file once."""
        self._walker = Walker()
        met: set[str] = set()
        for folder in self.folders:
            for path, found in self._walker.files(str(folder), (".jsonl",)):
                if path not in met:
                    met.add(path)
                    yield source_file(self.host, path, "session", session_in(path), found)

    def problems(self) -> list[tuple[str, str]]:
        """Return (path, reason) of what the last discovery could not look into."""
        return self._walker.problems

    def container(self, file: SourceFile) -> Container:
        """Open a file's byte form."""
        from fabula.record.containers.jsonl import JsonLines

        return JsonLines(file.path)

    def normaliser(self, file: SourceFile, state: dict[str, Any] | None) -> Normaliser:
        """Return the reader of a session's lines."""
        from fabula.hosts.pi.normaliser import PiNormaliser

        return PiNormaliser(file, state)


def session_in(path: str) -> str:
    """Return the session id in a file's name, ``TIMESTAMP_ID.jsonl``; ``""`` where there is none."""
    stem = os.path.splitext(path.replace("\\", "/").rpartition("/")[2])[0]
    return stem.partition("_")[2]
