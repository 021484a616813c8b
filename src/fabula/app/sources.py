"""Which sources of transcripts there are: the one list of hosts, built from the settings."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, Any

from fabula.app.enabled import is_off

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabula.app.config import Config
    from fabula.kernel.records import SourceFile
    from fabula.record.sources import Container, Normaliser, Source


def configured_sources(config: Config) -> list[Source]:
    """Build every source that the settings name.

    Files that match ``record.ignore`` and sessions of projects that are switched off do not exist for them.
    """
    from fabula.hosts.claude.source import ClaudeSource
    from fabula.hosts.codex.source import CodexSource
    from fabula.hosts.copilot.source import CopilotSource
    from fabula.hosts.cursor.source import CursorSource
    from fabula.hosts.gemini.source import GeminiSource
    from fabula.hosts.goose.source import GooseSource
    from fabula.hosts.kimi.source import KimiSource
    from fabula.hosts.opencode.roots import OpenCodeRoots
    from fabula.hosts.opencode.source import OpenCodeSource
    from fabula.hosts.pi.source import PiSource

    sources: list[Source] = [
        ClaudeSource(config["record.claude_roots"]),
        CodexSource(config["record.codex_home"]),
        GeminiSource(config["record.gemini_home"]),
        OpenCodeSource(OpenCodeRoots(config["record.opencode_database"], config["record.opencode_data"] / "storage")),
        CopilotSource(config["record.copilot_home"]),
        GooseSource(config["record.goose_data"]),
        CursorSource(config["record.cursor_home"]),
        KimiSource(config["record.kimi_home"], config["record.kimi_cli_home"]),
        PiSource((config["record.pi_agent"] / "sessions", *config["record.pi_sessions"])),
    ]
    if config["record.vault_roots"]:
        from fabula.hosts.claude.generations import GenerationFolder

        sources.append(GenerationFolder(config["record.vault_roots"]))
    if config["record.ignore"] or config["off_projects"]:
        return [Filtered(source, config) for source in sources]
    return sources


class Filtered:
    """A source without what the settings leave out."""

    def __init__(self, source: Source, config: Config) -> None:
        self._source = source
        self._config = config
        self.host = source.host

    def discover(self) -> Iterator[SourceFile]:
        """Find the files that no glob matches and whose project is on."""
        globs = self._config["record.ignore"]
        files = (f for f in self._source.discover() if not any(fnmatchcase(f.path, glob) for glob in globs))
        if not self._config["off_projects"]:
            return files
        from fabula.app.off import without_hidden

        return without_hidden(self._source, files, partial(is_off, self._config))

    def problems(self) -> list[tuple[str, str]]:
        """Return (path, reason) of what the last discovery could not look into."""
        return self._source.problems()

    def container(self, file: SourceFile) -> Container:
        """Open a file's byte form. Raises ``OSError``."""
        return self._source.container(file)

    def normaliser(self, file: SourceFile, state: dict[str, Any] | None) -> Normaliser:
        """Return a normaliser that goes on from ``state``."""
        return self._source.normaliser(file, state)
