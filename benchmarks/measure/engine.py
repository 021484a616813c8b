"""The product as the benchmark sees it: the one place that knows its interfaces."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fabula.app.access import RecordAccess
from fabula.hosts.claude.source import ClaudeSource
from fabula.kernel.clock import SystemClock
from fabula.kernel.ids import pack_id, unpack_id
from fabula.kernel.paths import Home
from fabula.record.reading.turns import view_thread

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.record.scan.report import ScanReport
    from fabula.record.sources import Source


class Engine:
    """A record in a folder of its own over one corpus."""

    def __init__(self, home: Path, root: Path, vault: Path | None) -> None:
        self.home = Home(home)
        self._sources: list[Source] = [ClaudeSource([root])]
        if vault is not None:
            from fabula.hosts.claude.generations import GenerationFolder

            self._sources.append(GenerationFolder([vault]))
        self.access = RecordAccess(self.home, SystemClock(), lambda: self._sources)

    def scan(self, *, seal: bool) -> ScanReport:
        """Index everything that is new."""
        return self.access.scan(seal=seal)

    def sizes(self) -> dict[str, int]:
        """Bytes of the map and of the vault."""
        self.access.close()
        vault = sum(path.stat().st_size for path in self.home.vault.rglob("*") if path.is_file())
        return {"map": self.home.map.stat().st_size, "vault": vault}

    def rows(self, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Read from the map."""
        return list(self.access.reader().execute(statement, parameters))

    def thread_of_records(self) -> dict[str, str]:
        """Return the thread id of every record that has one, by the record's id."""
        found = self.rows("select r.uid, t.uid from records r join threads t on t.id = r.thread_id")
        return {unpack_id(record): unpack_id(thread) for record, thread in found}

    def outcomes(self) -> dict[str, tuple[int, int]]:
        """Return (objects, recovered) of every file, by path, as the scan accounts for them."""
        found = self.rows("select path, accounting from files where accounting is not null and vanished_at is null")
        accounts = {path: json.loads(account) for path, account in found}
        return {path: (account["objects"], account["recovered"]) for path, account in accounts.items()}

    def abandoned(self, prompts: list[str]) -> set[str]:
        """Return the records that readers of these threads are told were abandoned."""
        loader = self.access.loader()
        called: set[str] = set()
        for prompt in prompts:
            for (thread,) in self.rows("select id from threads where uid = ?", pack_id(prompt)):
                view = view_thread(prompt, "", loader.load(loader.rows_of_thread(thread)), redact=lambda text: text)
                called.update(turn.uid for branch in view.branches for turn in branch)
        return called
