"""The npm package memhtml as a program: installed once at the pinned version, run with a home of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import apsw

MANIFEST = Path(__file__).with_name("package.json")


class Program:
    """The installed program, without models and embeddings."""

    def __init__(self, modules: Path, home: Path) -> None:
        node = modules / "node" / "bin"
        self._command = [str(node / "node"), str(modules / ".bin" / "memhtml")]
        path = os.pathsep.join([str(node), os.environ["PATH"]])
        self.names = {
            f"GIT_{who}_{what}": "t@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        off = {f"MEMHTML_{what}": "off" for what in ("EMBED", "LLM", "EXTRACT_ENTITIES")}
        self.environment = {"PATH": path, "HOME": str(home), **off, **self.names}

    def ask(self, root: Path, *arguments: str) -> dict[str, Any]:
        """Run a command on a corpus and return its data."""
        command = [*self._command, "--repo", str(root), *arguments]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=600, check=False)
        answer = json.loads(done.stdout)
        assert "data" in answer, done.stdout
        return answer["data"]  # type: ignore[no-any-return]

    def index(self, root: Path) -> tuple[dict[str, str], set[str]]:
        """Commit a folder, index it, and return the hashes by path and the paths that were refused."""
        for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "files"]):
            self.git(root, *arguments)
        report = self.ask(root, "index", "rebuild")
        return hashes(root), {skipped["path"] for skipped in report["skipped"]}

    def git(self, root: Path, *arguments: str) -> str:
        """Run git as somebody else and return what it says."""
        git = ["git", "-c", "core.autocrlf=false", "-C", str(root), *arguments]
        done = subprocess.run(git, env=self.environment, check=True, capture_output=True, text=True)
        return done.stdout


def hashes(root: Path) -> dict[str, str]:
    """Return the content hash of every file in the program's index."""
    database = apsw.Connection(str(root / ".memhtml" / "index.db"), flags=apsw.SQLITE_OPEN_READONLY)
    return dict(database.execute("SELECT path, content_hash FROM files"))


def install(folder: Path) -> Path:
    """Install the program and the Node it needs at the pinned versions, once; return its modules.

    Raises ``OSError``, ``subprocess.SubprocessError`` where npm cannot.
    """
    modules = folder / "node_modules"
    pinned = folder / MANIFEST.name
    is_there = (modules / ".bin" / "memhtml").exists() and (modules / "node" / "bin" / "node").exists()
    if not is_there or not pinned.exists() or pinned.read_bytes() != MANIFEST.read_bytes():
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(MANIFEST, pinned)
        command = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--no-package-lock"]
        subprocess.run(command, check=True, capture_output=True, timeout=600)
    return modules
