"""Which working folder a Kimi session belongs to: its wire does not say, the files around it do."""

from __future__ import annotations

import json
import os
from hashlib import md5
from typing import TYPE_CHECKING, Any

from fabula.hosts.fields import list_of, mapping_of, object_in, text_of

if TYPE_CHECKING:
    from pathlib import Path

_LIMIT = 4 << 20  # bytes of a state or list that are read


class Places:
    """Working folders by session folder: what its ``state.json`` says, else the lists of either client."""

    def __init__(self, home: Path, cli_home: Path) -> None:
        self._home, self._cli_home = home, cli_home
        self._lists: dict[str, str] | None = None  # name of a project's or a session's folder -> working folder
        self._seen: dict[str, str] = {}

    def cwd(self, session_folder: str) -> str:
        """Return the working folder of the session in a folder, ``""`` when nothing tells."""
        known = self._seen.get(session_folder)
        if known is None:
            told = text_of(read_object(os.path.join(session_folder, "state.json")), "cwd")
            known = self._seen[session_folder] = told or self._listed(session_folder)
        return known

    def _listed(self, session_folder: str) -> str:
        if self._lists is None:
            self._lists = _indexed(str(self._home / "session_index.jsonl"))
            for name, entry in mapping_of(read_object(str(self._home / "workspaces.json")), "workspaces").items():
                self._lists[name] = text_of(entry, "root")
            for entry in list_of(read_object(str(self._cli_home / "kimi.json")), "work_dirs"):
                path, machine = text_of(entry, "path"), text_of(entry, "kaos")
                name = md5(path.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
                self._lists[name if machine in ("", "local") else f"{machine}_{name}"] = path
        project, session = os.path.split(session_folder)
        return self._lists.get(os.path.basename(project), "") or self._lists.get(session, "")


def _indexed(path: str) -> dict[str, str]:
    """Return working folders by session from the list of sessions, the last line about each."""
    try:
        with open(path, "rb") as file:
            lines = file.read(_LIMIT).splitlines()
    except OSError:
        return {}
    found: dict[str, str] = {}
    for line in lines:
        entry = object_in(line.decode("utf-8", "replace"))
        if text_of(entry, "sessionId"):
            found[text_of(entry, "sessionId")] = text_of(entry, "workDir")
    return found


def read_object(path: str) -> dict[str, Any]:
    """Return the object that a small file holds, an empty one for anything else."""
    try:
        with open(path, "rb") as file:
            value = json.loads(file.read(_LIMIT))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
