"""Claude Code as a source of transcripts (``record.sources.Source``)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from fabula.hosts.claude.locate import HOST, Backups, Finder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from fabula.kernel.records import SourceFile
    from fabula.record.sources import Container, Normaliser

_WHOLE = frozenset({"tool-result", "file-backup", "meta"})


class ClaudeSource:
    """The transcripts below config homes (``roots``) and in folders of any layout (``folders``)."""

    host = HOST

    def __init__(self, roots: Sequence[Path], folders: Sequence[Path] = ()) -> None:
        self._roots = _distinct(roots)
        self._folders = _distinct(folders)
        self._problems: list[tuple[str, str]] = []
        self._transcripts: set[str] = set()
        self._backups: Backups = {}

    def discover(self) -> Iterator[SourceFile]:
        """Find the files by name and stat alone, each root in the order of names."""
        for group in self.groups():
            yield from group

    def groups(self) -> Iterator[Sequence[SourceFile]]:
        """Find the files by project and folder; a folder of backups that is as it was is the same list again."""
        finder = Finder(self._backups)
        self._problems, self._transcripts = finder.problems, set()
        for root in self._roots:
            yield from self._noted(finder.home(root))
        for folder in self._folders:
            yield from self._noted(finder.tree(folder))

    def _noted(self, groups: Iterator[list[SourceFile]]) -> Iterator[list[SourceFile]]:
        """Remember which sessions have a transcript; ``history.jsonl`` comes after the transcripts of its root."""
        for group in groups:
            self._transcripts.update(file.session for file in group if file.kind == "session")
            yield group

    def problems(self) -> list[tuple[str, str]]:
        """Return (path, reason) of what the last discovery could not look into."""
        return list(self._problems)

    def container(self, file: SourceFile) -> Container:
        """Open a file's byte form; the file itself is opened when it is read."""
        if file.kind in _WHOLE:
            from fabula.record.containers.whole_file import WholeFile

            return WholeFile(file.path)
        from fabula.record.containers.jsonl import JsonLines

        return JsonLines(file.path)

    def normaliser(self, file: SourceFile, state: dict[str, Any] | None) -> Normaliser:
        """Return the normaliser of the file's kind."""
        kind = file.kind
        if kind in ("session", "subagent", "compaction"):
            from fabula.hosts.claude.meta import read_meta
            from fabula.hosts.claude.normalise import TranscriptNormaliser

            meta = None if kind == "session" else read_meta(file.path)
            return TranscriptNormaliser(file, state, results_folder(file), meta)
        from fabula.hosts.claude import side_files

        if kind == "tool-result":
            return side_files.ToolResultNormaliser(file)
        if kind == "file-backup":
            return side_files.BackupNormaliser(file)
        if kind == "history":
            return side_files.HistoryNormaliser(state, self._transcripts)
        return side_files.SkippingNormaliser(kind)


def results_folder(file: SourceFile) -> str:
    """The ``tool-results`` folder of a transcript's session, whether it exists or not."""
    folder = os.path.dirname(file.path)
    before, found, _ = file.path.rpartition(f"{os.sep}subagents{os.sep}")
    if found:
        return os.path.join(before, "tool-results")
    session = file.parent_session or file.session
    return os.path.join(folder, session, "tool-results") if session else ""


def _distinct(paths: Sequence[Path]) -> list[str]:
    """Absolute paths without those that lead to the same folder."""
    return [str(path.absolute()) for path in {os.path.realpath(path): path for path in paths}.values()]
