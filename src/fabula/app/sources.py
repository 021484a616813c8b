"""Which sources of transcripts there are: the one list of hosts, built from the settings."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fabula.app.config import Config
    from fabula.kernel.records import SourceFile
    from fabula.record.sources import Container, Normaliser, Source


def configured_sources(config: Config) -> list[Source]:
    """Build every source that the settings name; files that match ``record.ignore`` do not exist for them."""
    from fabula.hosts.claude.generations import GenerationFolder
    from fabula.hosts.claude.source import ClaudeSource
    from fabula.hosts.codex.source import CodexSource
    from fabula.hosts.gemini.source import GeminiSource
    from fabula.hosts.opencode.roots import OpenCodeRoots
    from fabula.hosts.opencode.source import OpenCodeSource

    sources: list[Source] = [
        ClaudeSource(config["record.claude_roots"]),
        CodexSource(config["record.codex_home"]),
        GeminiSource(config["record.gemini_home"]),
        OpenCodeSource(OpenCodeRoots(config["record.opencode_database"], config["record.opencode_data"] / "storage")),
    ]
    if config["record.vault_roots"]:
        sources.append(GenerationFolder(config["record.vault_roots"]))
    ignored = tuple(config["record.ignore"])
    return [Filtered(source, ignored) for source in sources] if ignored else sources


class Filtered:
    """A source without the files that match a glob."""

    def __init__(self, source: Source, globs: Sequence[str]) -> None:
        self._source = source
        self._globs = globs
        self.host = source.host

    def discover(self) -> Iterator[SourceFile]:
        """Find the files that no glob matches."""
        for file in self._source.discover():
            if not any(fnmatchcase(file.path, glob) for glob in self._globs):
                yield file

    def problems(self) -> list[tuple[str, str]]:
        """Return (path, reason) of what the last discovery could not look into."""
        return self._source.problems()

    def container(self, file: SourceFile) -> Container:
        """Open a file's byte form. Raises ``OSError``."""
        return self._source.container(file)

    def normaliser(self, file: SourceFile, state: dict[str, Any] | None) -> Normaliser:
        """Return a normaliser that goes on from ``state``."""
        return self._source.normaliser(file, state)
