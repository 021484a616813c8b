"""Where Claude Code keeps its transcripts, found by name and stat alone.

Below a config home: ``projects/KEY/SESSION.jsonl``, ``projects/KEY/agent-ID.jsonl`` (subagents, old layout),
``projects/KEY/SESSION/subagents/**/agent-ID.jsonl`` with ``.meta.json`` (workflows with a ``journal.jsonl``),
``projects/KEY/SESSION/tool-results/*``, ``history.jsonl`` and ``file-history/SESSION/*``.
"""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.kernel.records import SourceFile

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST = "claude"
#: A folder that changed within this time before it was listed may change again within one tick of its clock.
SETTLED_NS = 2_000_000_000
_PROJECT_STATE = frozenset({"memory"})  # a project's folders that are no sessions


#: What a folder of backups held, by its path: (its own stat, the files in it).
Backups = dict[str, tuple[tuple[int, int, int], list[SourceFile]]]


class Finder:
    """Walks config homes. ``problems`` collects (path, reason) of what could not be looked into.

    ``backups`` is what earlier walks of this process remember of folders of backups.
    """

    def __init__(self, backups: Backups | None = None) -> None:
        self.problems: list[tuple[str, str]] = []
        self._backups_seen: Backups = {} if backups is None else backups
        self._entered: set[tuple[int, int]] = set()
        self._found: list[SourceFile] = []

    def home(self, root: str) -> Iterator[list[SourceFile]]:
        """Find everything below a config home, project by project; one that does not exist holds nothing."""
        projects = os.path.join(root, "projects")
        for entry in self._entries(projects, projects):
            if self._is_folder(entry):
                self._project(entry.path, projects)
            else:
                self._transcript(entry)
            yield self._take()
        self._history(root)
        yield self._take()
        backups = os.path.join(root, "file-history")
        for entry in self._entries(backups, backups):
            if self._is_folder(entry):
                yield self._backups(entry, backups)

    def tree(self, folder: str) -> Iterator[list[SourceFile]]:
        """Find transcripts in a folder of any layout: each folder below is read as a project's."""
        self._tree(folder, folder)
        yield self._take()

    def _take(self) -> list[SourceFile]:
        found, self._found = self._found, []
        return found

    def _tree(self, folder: str, root: str) -> None:
        for entry in self._entries(folder, root):
            if not entry.is_dir(follow_symlinks=False):
                self._transcript(entry)
            elif _is_session(entry.path):
                self._session(entry.path, entry.name, root)
            else:
                self._tree(entry.path, root)

    def _project(self, folder: str, root: str) -> None:
        for entry in self._entries(folder, root):
            if self._is_folder(entry):
                if entry.name not in _PROJECT_STATE:
                    self._session(entry.path, entry.name, root)
            else:
                self._transcript(entry)

    def _transcript(self, entry: os.DirEntry[str]) -> None:
        """The file of a session, or of a subagent in the old layout."""
        name = entry.name
        if name.endswith(".jsonl"):
            if name.startswith("agent-"):
                self._add_agent(entry, "")
            else:
                self._add(entry, "session", name[:-6])
        elif name.endswith(".meta.json"):
            self._add(entry, "meta", "")

    def _session(self, folder: str, session: str, root: str) -> None:
        """A session's folder; it may outlive the session's main file."""
        for entry in self._entries(folder, root):
            if not self._is_folder(entry):
                if entry.name.endswith(".jsonl"):
                    self._add(entry, "session", session)  # once, a session was a folder
            elif entry.name == "tool-results":
                for result in self._entries(entry.path, root):
                    self._add(result, "tool-result", session)
            else:
                self._subagents(entry.path, session, root)

    def _subagents(self, folder: str, session: str, root: str) -> None:
        """``subagents`` with the folders of workflows in it, and the other folders that a session may have."""
        for entry in self._entries(folder, root):
            name = entry.name
            if self._is_folder(entry):
                self._subagents(entry.path, session, root)
            elif name.endswith(".meta.json"):
                self._add(entry, "meta", "", session)
            elif name.endswith(".jsonl"):
                if name.startswith("agent-"):
                    self._add_agent(entry, session)
                else:
                    self._add(entry, "journal" if name == "journal.jsonl" else "foreign", "", session)

    def _add_agent(self, entry: os.DirEntry[str], parent: str) -> None:
        agent = entry.name[6:-6]
        self._add(entry, "compaction" if agent.startswith("acompact-") else "subagent", agent, parent)

    def _backups(self, folder: os.DirEntry[str], root: str) -> list[SourceFile]:
        """Backups are written once, each under a new name: a folder that is as it was holds what it held."""
        try:
            found = folder.stat()
        except OSError as error:
            self._note(folder.path, error)
            return []
        stamp = (found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        known = self._backups_seen.get(folder.path)
        if known is not None and known[0] == stamp:
            return known[1]  # the very list of the last time: who compared its files need not again
        settled = found.st_mtime_ns + SETTLED_NS < time.time_ns()
        troubles = len(self.problems)
        entries = self._entries(folder.path, root)
        for backup in entries:
            self._add(backup, "file-backup", folder.name)
        files = self._take()
        plain = len(files) == len(entries) and not any(entry.is_symlink() for entry in entries)
        if settled and plain and len(self.problems) == troubles:
            self._backups_seen[folder.path] = stamp, files
        return files

    def _history(self, root: str) -> None:
        path = os.path.join(root, "history.jsonl")
        try:
            found = os.stat(path)
        except OSError as error:
            self._note(path, error)
            return
        if stat.S_ISREG(found.st_mode):
            self._found.append(source_file(path, found, "history", ""))

    def _add(self, entry: os.DirEntry[str], kind: str, session: str, parent: str = "") -> None:
        try:
            found = entry.stat()
        except OSError as error:
            self._note(entry.path, error)
            return
        if stat.S_ISREG(found.st_mode):
            self._found.append(source_file(entry.path, found, kind, session, parent))

    def _entries(self, folder: str, root: str) -> list[os.DirEntry[str]]:
        """A folder's entries in the order of their names; links only where they stay below ``root``."""
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=_name)
        except OSError as error:
            self._note(folder, error)
            return []
        return [entry for entry in entries if not entry.is_symlink() or self._stays(entry.path, root)]

    def _stays(self, path: str, root: str) -> bool:
        target = os.path.realpath(path)
        if target.startswith(os.path.realpath(root) + os.sep):
            return True
        self.problems.append((path, f"a symbolic link that leads outside its folder, to {target}"))
        return False

    def _is_folder(self, entry: os.DirEntry[str]) -> bool:
        """Whether to enter: a folder behind a link is entered once, so that links cannot lead in circles."""
        try:
            if not entry.is_dir():
                return False
            if not entry.is_symlink():
                return True
            found = entry.stat()
        except OSError as error:
            self._note(entry.path, error)
            return False
        identity = (found.st_dev, found.st_ino)
        fresh = identity not in self._entered
        self._entered.add(identity)
        return fresh

    def _note(self, path: str, error: OSError) -> None:
        """What is not there is no problem: folders are optional, files may vanish while we look."""
        if not isinstance(error, FileNotFoundError):
            self.problems.append((path, error.strerror or str(error)))


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def _is_session(folder: str) -> bool:
    return any(Path(folder, name).exists() for name in ("subagents", "tool-results"))


def source_file(path: str, found: os.stat_result, kind: str, session: str, parent: str = "") -> SourceFile:
    """Describe a live file by its stat."""
    return SourceFile(
        HOST, path, kind, session, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, parent
    )
