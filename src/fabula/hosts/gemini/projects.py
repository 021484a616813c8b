"""Which working folder a Gemini project folder stands for: chats do not say it themselves."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fabula.hosts.fields import mapping_of
from fabula.kernel.hashes import digest

if TYPE_CHECKING:
    from pathlib import Path

_LIMIT = 4 << 20


class Projects:
    """Working folders by the names of project folders below ``tmp``: a slug, or a digest of the path."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._by_name: dict[str, str] = {}
        for path, slug in mapping_of(_read(home / "projects.json"), "projects").items():
            self._by_name[digest(path.encode("utf-8", "surrogatepass")).hex()] = path
            if isinstance(slug, str):
                self._by_name[slug] = path
        self._seen: dict[str, str] = {}

    def cwd(self, name: str) -> str:
        """Return the working folder of a project folder: what its own file says, else the list of projects."""
        known = self._seen.get(name)
        if known is None:
            known = self._seen[name] = self._told(name) or self._by_name.get(name, "")
        return known

    def _told(self, name: str) -> str:
        try:
            with open(self._home / "tmp" / name / ".project_root", "rb") as file:
                return file.read(4096).decode("utf-8", "replace").strip()
        except OSError:
            return ""


def _read(path: Path) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            value = json.loads(file.read(_LIMIT))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
