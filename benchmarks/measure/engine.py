"""The product as the benchmark sees it: the one place that knows its interfaces."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fabula.app.record.file import FileRequest, file
from fabula.app.record.scan import ScanRequest, scan
from fabula.app.record.search import SearchRequest, search
from fabula.app.wiring import App
from fabula.kernel.clock import SystemClock
from fabula.kernel.ids import pack_id, unpack_id
from fabula.record.reading.turns import view_thread

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.record.scan import ScanResult


class Engine:
    """A record in a folder of its own over one corpus."""

    def __init__(self, home: Path, root: Path, vault: Path | None) -> None:
        home.mkdir(parents=True, exist_ok=True)
        if vault is not None:  # as a user names it, so that every later check reads it too
            roots = f"[record]\nvault_roots = [{json.dumps(str(vault))}]\n"
            (home / "config.toml").write_text(roots, encoding="utf-8")
        nobody = home / "nobody"  # a user's home without any other agent
        environment = {"FABULA_HOME": str(home), "HOME": str(nobody), "CLAUDE_CONFIG_DIR": str(root)}
        self.app = App(environment=environment, cwd=nobody, user_home=nobody, clock=SystemClock())

    def scan(self, *, seal: bool) -> ScanResult:
        """Index everything that is new."""
        return scan(self.app, ScanRequest(no_seal=not seal))

    def refresh(self) -> None:
        """Check for what is new, as every read does first."""
        self.app.refresh()

    def sizes(self) -> dict[str, int]:
        """Bytes of the map and of the vault."""
        self.app.record.close()
        vault = sum(path.stat().st_size for path in self.app.home.vault.rglob("*") if path.is_file())
        return {"map": self.app.home.map.stat().st_size, "vault": vault}

    def rows(self, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Read from the map."""
        return list(self.app.reader().execute(statement, parameters))

    def passages_with(self, word: str) -> int:
        """Return how many searched passages hold a word."""
        return int(self.rows("select count(*) from passages_fts where passages_fts match ?", f'"{word}"')[0][0])

    def thread_of_records(self) -> dict[str, str]:
        """Return the thread id of every record that has one, by the record's id."""
        found = self.rows("select r.uid, t.uid from records r join threads t on t.id = r.thread_id")
        return {unpack_id(record): unpack_id(thread) for record, thread in found}

    def outcomes(self) -> dict[str, tuple[int, int]]:
        """Return (objects, recovered) of every file, by path, as the scan accounts for them."""
        files = self.scan(seal=True).files
        return {file.path: (file.objects, file.recovered) for file in files}

    def abandoned(self, prompts: list[str]) -> set[str]:
        """Return the records that readers of these threads are told were abandoned."""
        loader = self.app.loader()
        called: set[str] = set()
        for prompt in prompts:
            for (thread,) in self.rows("select id from threads where uid = ?", pack_id(prompt)):
                view = view_thread(prompt, "", loader.load(loader.rows_of_thread(thread)), redact=lambda text: text)
                called.update(turn.uid for branch in view.branches for turn in branch)
        return called

    def last_content(self, path: str) -> str | None:
        """Return a file's contents after its last edit, rebuilt from the record; ``None`` where that cannot be."""
        versions = file(self.app, FileRequest(path, all=True)).versions
        return file(self.app, FileRequest(path, all=True, show=versions[-1].number)).content if versions else None

    def search(self, text: str, limit: int) -> list[str]:
        """Return the thread ids that a search finds, best first; the check for what is new is part of it."""
        return [hit.thread for hit in search(self.app, SearchRequest(text, all=True, limit=limit)).hits]

    def vectors(self) -> int:
        """Return how many threads have a vector; they are made while searching, a bounded number each time."""
        return int(self.rows("select count(*) from vectors")[0][0])
