"""What git must not see in a corpus: databases and logs of this machine. Told in ``info/exclude``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.storage.files import write_atomic

if TYPE_CHECKING:
    from pathlib import Path

#: All of our folder but what is part of the corpus: its marker, and the logs that were exported to be shared.
RULES = ("/.fabula/*", "!/.fabula/corpus.json", "!/.fabula/state/")
HEADING = "# fabula: made on this machine, never committed"


def ensure_excluded(root: Path) -> str | None:
    """Have git pass over our local files; return why that could not be said, ``None`` where it is."""
    folder = common_folder(root)
    if folder is None:
        return f"{root} is no repository: what is made in .fabula/ is not hidden from git"
    exclude = folder / "info" / "exclude"
    try:
        text = exclude.read_text(encoding="utf-8", errors="surrogateescape") if exclude.exists() else ""
        if set(RULES) <= set(text.splitlines()):
            return None
        exclude.parent.mkdir(exist_ok=True)
        ending = "" if not text or text.endswith("\n") else "\n"
        block = "\n".join((HEADING, *RULES))
        mode = exclude.stat().st_mode & 0o777 if exclude.exists() else 0o644
        write_atomic(exclude, f"{text}{ending}{block}\n".encode("utf-8", "surrogateescape"), mode=mode)
    except (OSError, FabulaError) as error:
        return f"{exclude} could not be written ({error}): git shows what is made in .fabula/"
    return None


def common_folder(root: Path) -> Path | None:
    """Return the git folder that all work trees of a repository share; ``None`` where the root is none's top."""
    own = root / ".git"
    if own.is_dir():
        return own
    try:
        said = own.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    if not said.startswith("gitdir:"):
        return None
    folder = (root / said.removeprefix("gitdir:").strip()).resolve()
    try:
        shared = (folder / "commondir").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return folder if folder.is_dir() else None
    return (folder / shared).resolve()
