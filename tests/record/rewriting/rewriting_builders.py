"""Sessions that can be slimmed, at rest, and a rule that slims them, for tests of the protocol."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fabula.record.rewriting.lines import edited
from fabula.record.rewriting.plan import Change, Snapshot
from fabula.record.vault.values import SourceEntry
from fabula.record.vault.vault import Vault
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession

BULK = "ocelot " * 200
LONG_AGO = 1_770_000_000


def session_with_bulk(seed: str = "bulk", results: int = 3) -> ClaudeSession:
    session = ClaudeSession(seed)
    session.prompt("what do the quays say?")
    for number in range(results):
        session.tool("Bash", {"command": f"cat quay-{number}"}, f"quay{number} {BULK}", detail={"stdout": BULK})
    session.reply("they say ocelot")
    return session


def at_rest(path: Path) -> Path:
    """Let a file look as if it had been written long ago."""
    os.utime(path, (LONG_AGO, LONG_AGO))
    return path


def append(path: Path, data: bytes) -> None:
    """Append as a client does."""
    with path.open("ab") as file:
        file.write(data)


def slim_results(snapshot: Snapshot) -> Iterator[Change]:
    """Take the results of tools out."""

    def stub(value: dict[str, Any]) -> None:
        value["message"]["content"][0]["content"] = "[removed by fabula prune: all]"
        value.pop("toolUseResult", None)

    for found in snapshot.values:
        raw = snapshot.raw(found)
        if b'"tool_result"' in raw and b"[removed by" not in raw:
            yield Change(found.offset, found.length, edited(raw, stub), "results")


def drop_last_line(snapshot: Snapshot) -> Iterator[Change]:
    """Take the last record out."""
    found = snapshot.values[-1]
    yield Change(found.offset, found.length, None, "end")


def entry_of(home: RecordHome, path: Path) -> SourceEntry:
    """Return what the ledger knows of a file."""
    with Vault.open(home.app.home.vault, home.clock, read_only=True) as vault:
        return next(entry for entry in vault.sources() if entry.path == str(path))


def sealed_bytes(home: RecordHome, path: Path, number: int) -> bytes:
    """Return a generation of a file as the vault gives it back."""
    with Vault.open(home.app.home.vault, home.clock, read_only=True) as vault:
        entry = next(entry for entry in vault.sources() if entry.path == str(path))
        generation = next(each for each in entry.generations if each.number == number)
        return b"".join(vault.stream(generation.id))
