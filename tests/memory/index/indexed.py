"""A corpus that people and agents write to by hand, and all that its index says, in a form that can be compared."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from fabula.memory.index.memory_index import MemoryIndex
from fabula.memory.index.opening import open_index
from fabula.storage.git.repo import Repo
from fabula.storage.git.values import Change, Committed, Move, Put, Remove

NOW = 1_790_000_000_000
AT = "1700000000 +0000"


class FixedClock:
    """Says what it is told."""

    def __init__(self, now: int = NOW) -> None:
        self.now = now

    def now_ms(self) -> int:
        return self.now


def memory(claim: str, *rest: str, head: str = "", kind: str = "semantic", title: str = "", **metas: str) -> bytes:
    """Write a memory: a claim, further markup, head lines, metas by name."""
    values = {"type": kind, "status": "active", "created": "2026-05-14T08:20:00Z", "updated": "2026-05-14T08:20:00Z"}
    values |= {name.replace("_", "-"): value for name, value in metas.items()}
    lines = "\n".join(f'<meta name="memhtml-{name}" content="{value}">' for name, value in values.items())
    return (
        f"<!doctype html>\n<html>\n<head>\n<title>{title or claim}</title>\n{lines}\n{head}\n</head>\n<body>\n"
        f"<article>\n<p><mark>{claim}</mark></p>\n{''.join(rest)}\n</article>\n</body>\n</html>\n"
    ).encode()


def link(relation: str, path: str) -> str:
    """Write a link of a head."""
    return f'<link rel="memhtml-{relation.replace("_", "-")}" href="/{path}">'


class Shelf:
    """A corpus in a folder, and its index."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "corpus"
        self.root.mkdir(parents=True)
        home = folder / "home"
        home.mkdir(exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        self.environ = {**kept, "HOME": str(home), "XDG_CONFIG_HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}
        self.git("init", "--quiet", "-b", "main")
        self.git("config", "user.name", "Ada")
        self.git("config", "user.email", "ada@example.org")
        with (self.root / ".git" / "info" / "exclude").open("a") as stream:
            stream.write("/.fabula/\n")
        self.repo = Repo(self.root, self.environ)
        self.clock = FixedClock()

    def git(self, *words: str, check: bool = True) -> str:
        """Run git; return what it printed."""
        command = ("git", "-C", str(self.root), *words)
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=self.environ)
        assert done.returncode == 0 or not check, done.stderr
        return done.stdout.strip()

    def put(self, path: str, data: bytes) -> Path:
        """Write a file in place."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        return place

    def commit(self, **files: bytes) -> str:
        """Commit all there is; return the commit."""
        for path, data in files.items():
            self.put(path, data)
        self.git("add", "-A")
        self.git("commit", "--quiet", "--allow-empty", "-m", "by hand")
        return self.git("rev-parse", "HEAD")

    def store(self, *changes: Change) -> tuple[Committed, dict[str, bytes | None]]:
        """Commit as the store does; return what it tells the index."""
        with self.repo.writing() as turn:
            done = turn.commit(changes, "memhtml(write): a memory\n", AT)
        assert done is not None
        contents: dict[str, bytes | None] = {}
        for change in changes:
            if isinstance(change, Put):
                contents[change.path] = change.data
            elif isinstance(change, Remove):
                contents[change.path] = None
            elif isinstance(change, Move):
                contents |= {change.source: None, change.target: change.data}
        return done, contents

    def open(self, scratch: Path | None = None) -> MemoryIndex:
        """Open the index as another process would."""
        return open_index(self.root, lambda: self.repo, self.clock, scratch=scratch)


def paths(index: MemoryIndex) -> list[str]:
    """Return what is served."""
    return [path for (path,) in index.ask("select path from files order by path")]


def found(index: MemoryIndex, words: str, table: str = "live_text") -> list[str]:
    """Return what full text finds, by path."""
    statement = f"select f.path from {table} t join files f on f.id = t.rowid where {table} match ? order by f.path"
    return [path for (path,) in index.ask(statement, (words,))]


_OF_FILES = ("texts", "tags", "entities", "aliases", "facets", "citations")


def contents(index: MemoryIndex) -> dict[str, list[tuple[Any, ...]]]:
    """Return all that an index says about its corpus, ids replaced by paths."""
    ask = index.ask
    columns = [name for (name,) in ask("select name from pragma_table_info('files') where name <> 'id'")]
    said = {"files": ask(f"select {', '.join(columns)} from files order by path")}
    for table in _OF_FILES:
        own = [name for (name,) in ask(f"select name from pragma_table_info('{table}') where name <> 'file_id'")]
        listed = ", ".join(f"t.{name}" for name in own)
        said[table] = sorted(ask(f"select f.path, {listed} from {table} t join files f on f.id = t.file_id"), key=repr)
    said["edges"] = [(one.source, one.relation, one.target, one.at) for one in index.authored_edges()]
    said["guesses"] = [(one.source, one.relation, one.target, one.strength) for one in index.guessed_edges()]
    said["problems"] = [(one.path, one.kind, one.message) for one in index.problems()]
    said["places"] = ask("select path, tree_blob, blob, state from places order by path")
    said["head"] = ask("select value from meta where key = 'head'")
    for table in ("live_text", "archived_text"):
        said[table] = _terms(index, table)
    return said


def _terms(index: MemoryIndex, table: str) -> list[tuple[Any, ...]]:
    """Return every term of a full text with the path, column and place where it stands."""
    index.connection.execute(f"create virtual table temp.terms using fts5vocab(main, {table}, instance)")
    rows = index.ask(
        "select t.term, f.path, t.col, t.offset from temp.terms t left join files f on f.id = t.doc order by 1, 2, 3, 4"
    )
    index.connection.execute("drop table temp.terms")
    return rows
