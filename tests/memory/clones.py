"""A corpus in git, clones of it, and people who write in them with git alone."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "storage" / "git"))

from gitcorpus import Person, made

FIRST_DAY = "2026-01-01T10:00:00Z"
CREATED = "2026-01-01T10:00:00Z"


def memory(
    claim: str,
    *,
    title: str = "",
    updated: str = CREATED,
    tags: list[str] | None = None,
    links: list[tuple[str, str]] | None = None,
    body: str = "",
    type: str = "semantic",  # noqa: A002 - the name of the meta
    **metas: str,
) -> str:
    """Write a memory as the format does; ``metas``: further metas, ``superseded_by`` for ``superseded-by``."""
    said = {"type": type, "status": "active", "created": CREATED, "updated": updated}
    said |= {name.replace("_", "-"): value for name, value in metas.items()}
    rows = [f'<meta name="memhtml-{name}" content="{value}">' for name, value in said.items()]
    rows += [f'<meta name="memhtml-tag" content="{tag}">' for tag in tags or ()]
    rows += [f'<link rel="memhtml-{rel}" href="{href}">' for rel, href in links or ()]
    head = "\n".join(rows)
    rest = f"\n<p>{body}</p>" if body else ""
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title or claim}</title>\n{head}\n'
        f"</head>\n<body>\n<article>\n<p><mark>{claim}</mark></p>{rest}\n</article>\n</body>\n</html>\n"
    )


class Corpus(Person):
    """A person at a corpus; ``day`` is the time of their commits."""

    day = FIRST_DAY

    def move(self, old: str, new: str, text: str) -> None:
        """Move a file, with a new text."""
        (self.root / old).unlink()
        self.write(new, text)

    def commit(self, message: str) -> str:
        """Commit everything; return the commit."""
        self.git("add", "-A")
        when = {"GIT_AUTHOR_DATE": self.day, "GIT_COMMITTER_DATE": self.day}
        self.git("commit", "--quiet", "--allow-empty", "-m", message, **when)
        return self.git("rev-parse", "HEAD")

    def clone(self, name: str) -> Corpus:
        """Clone this corpus; the clone can fetch from here."""
        other = Corpus(self.root.parent.parent / name / "corpus") if self._make(name) else self
        self.git("clone", "--quiet", str(self.root), str(other.root))
        other.git("config", "user.name", name)
        other.git("config", "user.email", f"{name}@example.org")
        return other

    def text(self, path: str) -> str:
        """Return a file of the work tree."""
        return (self.root / path).read_text(encoding="utf-8")

    def _make(self, name: str) -> bool:
        (self.root.parent.parent / name).mkdir(parents=True)
        return True


def corpus(folder: Path, files: dict[str, str], *options: str) -> Corpus:
    """Make a corpus; with files, in a first commit."""
    made(folder, *options)
    someone = Corpus(folder / "corpus")
    for path, text in files.items():
        someone.write(path, text)
    if files:
        someone.commit("first")
    return someone
