"""Folders of sealed generations that another tool keeps: ``DIR/PROJECT/SESSION/{v0-raw,v1-pruned,…}.jsonl``."""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING, Any

from fabula.hosts.claude.locate import HOST, source_file
from fabula.hosts.claude.normalise import TranscriptNormaliser
from fabula.kernel.values import replace
from fabula.record.containers.jsonl import JsonLines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from fabula.kernel.records import SourceFile
    from fabula.record.sources import Container, Normaliser

_GENERATION = re.compile(r"v(\d{1,9})-(raw|pruned)\.jsonl")


class GenerationFolder:
    """Original and pruned generations of Claude Code transcripts, read as immutable files; numbers may have gaps."""

    host = HOST

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = [str(root.absolute()) for root in roots]
        self._problems: list[tuple[str, str]] = []

    def discover(self) -> Iterator[SourceFile]:
        """Find the generations, each session's in the order of their numbers."""
        self._problems = []
        for root in self._roots:
            for project in self._entries(root):
                for session in self._entries(project.path):
                    yield from self._session(session)

    def _session(self, session: os.DirEntry[str]) -> Iterator[SourceFile]:
        generations = [(int(name[1]), name[2], entry) for entry in self._entries(session.path)
                       if (name := _GENERATION.fullmatch(entry.name))]  # fmt: skip
        for number, form, entry in sorted(generations, key=lambda generation: generation[0]):
            try:
                found = entry.stat(follow_symlinks=False)
            except OSError as error:
                self._problems.append((entry.path, error.strerror or str(error)))
                continue
            if stat.S_ISREG(found.st_mode):
                file = source_file(entry.path, found, "session", session.name)
                yield replace(
                    file, immutable=True, generation=number, provenance="original" if form == "raw" else "slimmed"
                )
            else:
                self._problems.append((entry.path, "not a regular file"))

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as listing:
                return sorted(listing, key=lambda entry: entry.name)
        except NotADirectoryError:
            return []  # a file beside the folders is nobody's generation
        except OSError as error:
            self._problems.append((folder, error.strerror or str(error)))
            return []

    def problems(self) -> list[tuple[str, str]]:
        """Return (path, reason) of what the last discovery could not look into."""
        return list(self._problems)

    def container(self, file: SourceFile) -> Container:
        """Open a generation's byte form; the file itself is opened when it is read."""
        return JsonLines(file.path)

    def normaliser(self, file: SourceFile, state: dict[str, Any] | None) -> Normaliser:
        """Return the normaliser of a transcript; a sealed generation has no folder of results."""
        return TranscriptNormaliser(file, state, "")
