"""The sessions of Kimi Code, and those of the kimi-cli before it: a folder a session, a wire an agent."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.hosts.kimi.layout import place_of
from fabula.hosts.kimi.places import Places
from fabula.hosts.walking import Walker, source_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabula.hosts.kimi.layout import Place
    from fabula.kernel.records import SourceFile
    from fabula.record.sources import Container, Normaliser


class KimiSource:
    """What lies below the folders of both clients (``record.sources.Source``)."""

    host = "kimi"

    def __init__(self, home: Path, cli_home: Path) -> None:
        self._roots = [str(folder / "sessions") for folder in dict.fromkeys((home, cli_home))]
        self._homes = home, cli_home
        self._walker = Walker()
        self._places = Places(home, cli_home)
        self._wires: set[str] = set()  # folders in which kimi-cli kept a wire

    def discover(self) -> Iterator[SourceFile]:
        """Find each session's agents, then what the sessions' states say."""
        self._walker = Walker()
        self._places = Places(*self._homes)
        self._wires = set()
        states: list[SourceFile] = []
        contexts: list[SourceFile] = []
        for root in self._roots:
            for path, found in self._walker.files(root, (".jsonl", "state.json")):
                place = self._place(path)
                if place is None:
                    continue
                file = source_file(self.host, path, place.kind, place.session, found, parent=place.parent)
                if place.shape == "cli-wire":
                    self._wires.add(os.path.dirname(path))
                if place.shape == "cli-context":
                    contexts.append(file)  # whether a wire is beside it is known at the end
                elif place.shape == "state":
                    states.append(file)
                else:
                    yield file
        yield from contexts
        yield from states

    def problems(self) -> list[tuple[str, str]]:
        """Return (path, reason) of what the last discovery could not look into."""
        return self._walker.problems

    def container(self, file: SourceFile) -> Container:
        """Open a file's byte form."""
        if file.kind == "meta":
            from fabula.record.containers.document import JsonDocument

            return JsonDocument(file.path, "")
        from fabula.record.containers.jsonl import JsonLines

        return JsonLines(file.path)

    def normaliser(self, file: SourceFile, state: dict[str, Any] | None) -> Normaliser:
        """Return the reader of a file's values."""
        place = self._place(file.path)
        shape = place.shape if place is not None else "wire"
        if shape == "state":
            from fabula.hosts.kimi.meta import MetaNormaliser

            return MetaNormaliser(file, state, self._cwd(file))
        if shape == "cli-wire":
            from fabula.hosts.kimi.cli_wire import CliWireNormaliser

            return CliWireNormaliser(file, state, self._cwd(file))
        if shape == "cli-context":
            from fabula.hosts.kimi.cli_context import CliContextNormaliser

            told = os.path.dirname(file.path) in self._wires
            return CliContextNormaliser(file, state, self._cwd(file), told=told)
        from fabula.hosts.kimi.wire import WireNormaliser

        return WireNormaliser(file, state, self._cwd(file))

    def _parts(self, path: str) -> tuple[str, list[str]]:
        root = next((root for root in self._roots if path.startswith(root + os.sep)), "")
        return root, list(Path(path[len(root) + 1 :]).parts) if root else []

    def _place(self, path: str) -> Place | None:
        return place_of(self._parts(path)[1])

    def _cwd(self, file: SourceFile) -> str:
        root, parts = self._parts(file.path)
        return self._places.cwd(os.path.join(root, *parts[:2])) if len(parts) > 1 else ""
