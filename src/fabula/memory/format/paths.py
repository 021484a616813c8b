"""Paths of memories inside a corpus: what is valid, where the archive mirrors it. Pure; no file is touched.

A path is relative, with ``/``; in a document it is written with one ``/`` in front (``href="/areas/inbox/x.html"``).
An archived file lies at ``archive/<year>/<its path>``. The year has four digits, or more with zeros in front: what is
archived a second time in one year goes to ``archive/02026/…``, whose year and path every reader of the format finds.
"""

from __future__ import annotations

import re

from fabula.memory.format.vocabulary import BUCKETS

SUFFIX = ".html"
LONGEST = 480  # bytes of a whole path: Windows and eCryptfs end not far above
#: Pages that are generated beside the memories.
GENERATED = frozenset({"index.html", "sitemap.xml"})
_SLASHES = re.compile("/{2,}")
_ARCHIVED = re.compile(r"archive/([0-9]{4,})/(.+)", re.DOTALL)
#: Names that Windows keeps for devices, with any ending.
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
_STRANGE = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]|[. ](?:/|$)')


def normalise(path: str) -> str:
    """Strip leading slashes, fold runs of them, drop one at the end."""
    return _SLASHES.sub("/", path).lstrip("/").removesuffix("/")


def bucket_of(path: str) -> str | None:
    """Return the bucket a path lies in, ``None`` where it lies in none or is the bucket itself."""
    bucket, slash, rest = normalise(path).partition("/")
    return bucket if slash and rest and bucket in BUCKETS else None


def is_memory_path(path: str) -> bool:
    """Whether a path can be a memory's: below a bucket, ends ``.html``, no segment empty, ``.`` or ``..``."""
    path = normalise(path)
    segments = path.split("/")
    return bool(bucket_of(path)) and path.endswith(SUFFIX) and not {"", ".", ".."} & set(segments)


def is_indexed(path: str) -> bool:
    """Whether a file at this path is read as a memory: a valid path that is no generated page."""
    return is_memory_path(path) and path.rpartition("/")[2] not in GENERATED


def why_not_writable(path: str) -> str | None:
    """Return why nothing new should be written at a path, ``None`` where it may: it must do on every file system."""
    path = normalise(path)
    if not is_memory_path(path):
        return "a memory lies below projects/, areas/, resources/ or archive/ and ends with .html"
    if path.rpartition("/")[2].lower() in GENERATED:
        return "this name belongs to generated pages"
    if _STRANGE.search(path) or any(_DEVICES.fullmatch(part) or part.startswith("-") for part in path.split("/")):
        return "a part of the path is no name on every file system"
    if any(part.startswith(".") for part in path.split("/")):
        return "a part of the path is hidden"
    if not path.isprintable() or len(path.encode("utf-8", "surrogatepass")) > LONGEST:
        return f"the path is longer than {LONGEST} bytes or holds characters that do not print"
    return None


# ── the archive ─────────────────────────────────────────────────────
def archive_path(path: str, year: int, again: int = 0) -> str:
    """Return where a path goes when it is archived; ``again`` counts earlier archivings of it in that year."""
    return f"archive/{'0' * again}{year:04d}/{normalise(path)}"


def original_path(path: str) -> str | None:
    """Return the path that was archived, one layer of archive taken off; ``None`` where it lies in no year."""
    match = _ARCHIVED.fullmatch(normalise(path))
    return match[2] if match else None


def archive_year(path: str) -> int | None:
    """Return the year a path was archived in, ``None`` where it lies in no year of the archive."""
    match = _ARCHIVED.fullmatch(normalise(path))
    return int(match[1][-9:]) if match else None


# ── references ──────────────────────────────────────────────────────
def is_root_relative(href: str) -> bool:
    """Whether a link leads to a place in the corpus: one ``/`` in front, no segment empty, ``.`` or ``..``."""
    if not href.startswith("/"):
        return False
    path = re.split("[?#]", href, maxsplit=1)[0]
    return not {"", ".", ".."} & set(path[1:].split("/"))


def target_of(href: str) -> str:
    """Return the path a root-relative link leads to, without query and fragment."""
    return normalise(re.split("[?#]", href, maxsplit=1)[0])
