"""Which paths may be written in a repository: none that leaves the root, none that some system cannot hold."""

from __future__ import annotations

import re
import unicodedata

from fabula.kernel.errors import FabulaError

SEGMENT_BYTES = 240  # file systems take 255; what is written beside a file needs a longer name
PATH_BYTES = 1_024

_BARRED = re.compile(r'[\x00-\x1f\x7f\\:*?"<>|]')
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")  # file systems of Apple skip some of these
_GIT_SHORT = re.compile(r"git~[0-9]+", re.IGNORECASE)


def fault_of(path: str) -> str:
    """Say why a path may not be written; empty when it may."""
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        return "is not valid text"
    if not path:
        return "is empty"
    if size > PATH_BYTES:
        return f"is longer than {PATH_BYTES} bytes"
    for segment in path.split("/"):
        fault = _fault_of_segment(segment)
        if fault:
            return fault
    return ""


def _fault_of_segment(segment: str) -> str:
    if segment in {"", ".", ".."}:
        return "is not a plain path below the root"
    if len(segment.encode()) > SEGMENT_BYTES:
        return f"has a name of more than {SEGMENT_BYTES} bytes"
    if _BARRED.search(segment):
        return "has a character that not every system can hold"
    seen = _INVISIBLE.sub("", segment).rstrip(". ").casefold()
    if seen == ".git" or _GIT_SHORT.fullmatch(seen):
        return "lies in git's own folder"
    if segment[-1] in ". " or _RESERVED.fullmatch(segment):
        return "has a name that Windows does not hold"
    return ""


def checked(path: str) -> str:
    """Return the path. Raises ``ERR_PATH`` when it may not be written."""
    fault = fault_of(path)
    if fault:
        raise FabulaError("ERR_PATH", f"{path!r} {fault}")
    return path


def folded(name: str) -> str:
    """Return the form in which two names are one on file systems that ignore case or composition."""
    if name.isascii():  # has one composition
        return name.casefold()
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())
