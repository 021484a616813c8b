"""Which sources of transcripts there are: the one list of hosts, built from the settings."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fabula.app.enabled import is_off
from fabula.app.unopened import Unopened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from fabula.app.config import Config
    from fabula.kernel.records import SourceFile
    from fabula.record.sources import Container, Normaliser, Source


def configured_sources(config: Config) -> list[Source]:
    """Build every source that the settings name.

    Files that match ``record.ignore`` and sessions of projects that are switched off do not exist for them.
    """
    from fabula.hosts.claude.source import ClaudeSource

    sources: list[Source] = [ClaudeSource(config["record.claude_roots"]), *_other_hosts(config)]
    if config["record.vault_roots"]:
        from fabula.hosts.claude.generations import GenerationFolder

        sources.append(GenerationFolder(config["record.vault_roots"]))
    if config["record.ignore"] or config["off_projects"]:
        return [Filtered(source, config) for source in sources]
    return sources


def _other_hosts(config: Config) -> list[Source]:
    """Describe the sources of the other hosts; each is imported when something of it is there."""

    def source(host: str, places: Sequence[Path], kind: str, *arguments: Any) -> Source:
        def make() -> Source:
            made: Source = getattr(import_module(f"fabula.hosts.{host}.source"), kind)(*arguments)
            return made

        return Unopened(host, places, make)

    def opencode() -> Source:
        from fabula.hosts.opencode.roots import OpenCodeRoots
        from fabula.hosts.opencode.source import OpenCodeSource

        return OpenCodeSource(OpenCodeRoots(database, storage))

    database, storage = config["record.opencode_database"], config["record.opencode_data"] / "storage"
    codex, gemini, copilot = (config[f"record.{host}_home"] for host in ("codex", "gemini", "copilot"))
    goose, cursor = config["record.goose_data"], config["record.cursor_home"]
    kimi = (config["record.kimi_home"], config["record.kimi_cli_home"])
    pi = (config["record.pi_agent"] / "sessions", *config["record.pi_sessions"])
    return [
        source("codex", [codex], "CodexSource", codex),
        source("gemini", [gemini], "GeminiSource", gemini),
        Unopened("opencode", [database, storage], opencode),
        source("copilot", [copilot], "CopilotSource", copilot),
        source("goose", [goose], "GooseSource", goose),
        source("cursor", [cursor], "CursorSource", cursor),
        source("kimi", kimi, "KimiSource", *kimi),
        source("pi", pi, "PiSource", pi),
    ]


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
