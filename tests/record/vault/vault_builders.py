"""Builders of vaults for tests: a clock that ticks, and files cut into lines as a source would."""

from __future__ import annotations

import json
import random
from pathlib import Path

from fabula.record.vault.values import Generation
from fabula.record.vault.vault import Vault


class TickingClock:
    """Starts at a fixed time; every look at it is one millisecond later."""

    def __init__(self, now: int = 1_700_000_000_000) -> None:
        self.now = now

    def now_ms(self) -> int:
        self.now += 1
        return self.now


def open_vault(folder: Path, *, read_only: bool = False) -> Vault:
    return Vault.open(folder, TickingClock(), read_only=read_only)


def line_spans(data: bytes, offset: int = 0) -> list[tuple[int, int]]:
    """Spans of non-empty lines, without their ends, as (file offset, length)."""
    spans, position = [], offset
    for line in data.splitlines(keepends=True):
        length = len(line.rstrip(b"\r\n"))
        if length:
            spans.append((position, length))
        position += len(line)
    return spans


def begin(vault: Vault, path: str, session: str = "session") -> Generation:
    source = vault.source("host", path, "session", session)
    return vault.begin(source.id, provenance="original", immutable=False)


def seal(vault: Vault, path: str, data: bytes, *, session: str = "session") -> Generation:
    """Seal ``data`` as the content of a new generation of ``path`` and commit."""
    generation = begin(vault, path, session)
    vault.append(generation.id, 0, data, line_spans(data))
    vault.commit()
    return generation


def transcript(records: int, seed: int = 1, size: int = 400) -> bytes:
    """JSON lines of words that hardly compress to nothing, each different."""
    chance = random.Random(seed)
    lines = []
    for number in range(records):
        words = " ".join(f"w{chance.randrange(9999)}" for _ in range(chance.randrange(1, size // 4)))
        lines.append(json.dumps({"uuid": f"{seed}-{number}", "text": words}).encode())
    return b"\n".join(lines) + b"\n"


def restored(vault: Vault, generation_id: int) -> bytes:
    return b"".join(vault.stream(generation_id))


def contents(vault: Vault) -> dict[tuple[str, int], bytes]:
    """Everything a vault holds: (path, generation number) -> bytes."""
    return {
        (source.path, generation.number): restored(vault, generation.id)
        for source in vault.sources()
        for generation in source.generations
    }
