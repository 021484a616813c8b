"""Which blob git makes of a file: its bytes, unless attributes or settings convert them; then git is asked.

Nearly every corpus converts nothing, and lines that end in a line feed alone are what conversions of lines give: only
what may really differ costs a process.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.storage.git.objects import Object, made

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fabula.storage.git.program import Git
    from fabula.storage.git.values import Place, Settings

_ATTRIBUTES = ("text", "eol", "crlf", "filter", "ident", "working-tree-encoding")
_CONVERTING = re.compile(
    rb"^[^#\n]*\s[-!]?(text|eol|crlf|filter|ident|working-tree-encoding|binary)\b|\[attr\]", re.MULTILINE
)
_UNSET = frozenset({"unspecified", "unset"})
_READ = 262_144  # bytes of an attributes file


class Filters:
    """What becomes of files of one work tree when git takes them in."""

    def __init__(self, git: Git, place: Place, settings: Settings) -> None:
        self._git = git
        self._place = place
        self._settings = settings

    def blobs(self, files: Mapping[str, bytes]) -> tuple[dict[str, str], list[Object]]:
        """Return path -> blob id, and the blobs that are not yet in the repository."""
        converted = self._converted(files)
        ids: dict[str, str] = {}
        new: list[Object] = []
        for path, data in files.items():
            if path in converted:
                ids[path] = self.cleaned(path, data, write=True)
            else:
                thing = made("blob", data, self._place.algorithm)
                ids[path] = thing.id
                new.append(thing)
        return ids, new

    def converted(self, files: Mapping[str, bytes]) -> set[str]:
        """Return the paths whose blobs may have other bytes than their files."""
        return self._converted(files)

    def is_blob(self, path: str, data: bytes, blob: str) -> bool:
        """Say whether a file of the work tree is a blob."""
        if made("blob", data, self._place.algorithm).id == blob:
            return True
        return bool(self._converted({path: data})) and self.cleaned(path, data, write=False) == blob

    def cleaned(self, path: str, data: bytes, *, write: bool) -> str:
        """Return the id of the blob that git makes of a file, and store it if so wanted."""
        words = ("-w",) if write else ()
        answer = self._git.run("hash-object", *words, "--stdin", f"--path={path}", stdin=data)
        return answer.out.decode().strip()

    def _converted(self, files: Mapping[str, bytes]) -> set[str]:
        """Return the paths whose bytes git may change."""
        converted = {path for path, data in files.items() if self._settings.converts_lines and b"\r" in data}
        rest = [path for path in files if path not in converted]
        if not self._mentioned(rest):
            return converted
        said = self._git.run(
            "check-attr", "-z", "--stdin", *_ATTRIBUTES, stdin=b"".join(os.fsencode(path) + b"\0" for path in rest)
        )
        fields = said.out.split(b"\0")
        for at in range(0, len(fields) - 2, 3):
            path, name, value = os.fsdecode(fields[at]), fields[at + 1].decode(), fields[at + 2].decode()
            if value not in _UNSET and _may_change(name, files[path]):
                converted.add(path)
        return converted

    def _mentioned(self, paths: Iterable[str]) -> bool:
        """Say whether any file of attributes that holds for the paths speaks of conversions."""
        return any(_CONVERTING.search(_start_of(file)) for file in self._attribute_files(paths))

    def _attribute_files(self, paths: Iterable[str]) -> set[Path]:
        folders = {folder for path in paths for folder in _folders(path)}
        environ = self._git.environ
        home = environ.get("HOME") or environ.get("USERPROFILE") or "/"
        own = self._settings.attributes_file
        if own.startswith("~"):
            own = home + own[1:]
        shared = Path(environ.get("XDG_CONFIG_HOME") or Path(home, ".config"), "git", "attributes")
        return {
            self._place.common / "info" / "attributes",
            Path(own) if own else shared,
            Path("/etc/gitattributes"),
            *(self._place.root / folder / ".gitattributes" for folder in folders),
        }


def _may_change(name: str, data: bytes) -> bool:
    if name in {"text", "eol", "crlf"}:
        return b"\r" in data
    if name == "ident":
        return b"$Id" in data
    return True


def _folders(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(len(parts))]


def _start_of(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(_READ)
    except OSError:
        return b""
