"""Names of files as tools write them: made absolute, made comparable. Pure text; the disk is never asked."""

from __future__ import annotations

import ntpath
import posixpath
import re

_DRIVE = re.compile(r"[A-Za-z]:[\\/]|\\\\")


def is_windows(path: str) -> bool:
    r"""Whether a path is written the Windows way (``C:\…`` or ``\\server\…``)."""
    return _DRIVE.match(path) is not None


def resolve(path: str, folder: str) -> str:
    """Return ``path`` as an absolute, normalised name; a relative one lies below ``folder``.

    Windows paths keep their form. A relative path without a folder stays relative.
    """
    if path.startswith("/"):
        tidy = "/." not in path and "//" not in path and not path.endswith("/")
        return path if tidy else posixpath.normpath(path)
    if is_windows(path):
        return ntpath.normpath(path)
    if path.startswith("~"):
        return posixpath.normpath(path)
    if is_windows(folder):
        return ntpath.normpath(ntpath.join(folder, path))
    return posixpath.normpath(posixpath.join(folder, path))


def comparable(path: str) -> str:
    """Return the form in which two names of one file are compared: slashes only, no ``./`` in front."""
    if "\\" in path:
        path = path.replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    return path.rstrip("/")


def same_file(one: str, other: str) -> bool:
    """Whether two names can mean one file: they are equal, or one ends with the other after a slash."""
    left, right = comparable(one), comparable(other)
    if not left or not right:
        return False
    return left == right or left.endswith("/" + right) or right.endswith("/" + left)
