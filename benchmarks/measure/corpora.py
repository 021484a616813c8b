"""Corpora to measure on: generated ones (kept between runs), earlier ones, or a folder of real transcripts."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from corpus.tree import Tree
from corpus.vocabulary import PROJECTS

OUT = Path(__file__).resolve().parent.parent / "out"


@dataclass(slots=True)
class Corpus:
    """A Claude Code configuration folder, what is sealed beside it, and (for a generated one) what is true of it."""

    name: str
    root: Path
    vault: Path | None = None
    manifest: dict[str, Any] | None = None
    threads: list[dict[str, Any]] = field(default_factory=list)

    @property
    def transcripts(self) -> list[Path]:
        """Every file of JSON lines that a scan reads."""
        roots = [self.root / "projects", *([self.vault] if self.vault else [])]
        return sorted(path for root in roots for path in root.rglob("*.jsonl") if path.is_file())

    @property
    def looked_at(self) -> list[Path]:
        """Every file whose size and times a scan asks for."""
        roots = [self.root / "projects", self.root / "file-history", *([self.vault] if self.vault else [])]
        return [path for root in roots if root.is_dir() for path in root.rglob("*") if path.is_file()]

    @property
    def size(self) -> int:
        """Bytes of all transcripts."""
        return sum(path.stat().st_size for path in self.transcripts)


def generated(size_mb: float, seed: int, *, subagents: str, vault: int, partial_tail: bool) -> Corpus:
    """Return the corpus that the generator makes of these arguments, made on first use."""
    marks = [f"{size_mb:g}mb", f"seed{seed}", *([subagents] if subagents != "inline" else [])]
    marks += [f"vault{vault}"] if vault else []
    marks += ["tail"] if partial_tail else []
    root = OUT / "corpora" / "-".join(marks)
    if not (root / "manifest.json").exists():
        sessions = max(4, int(size_mb / 8))
        arguments = argparse.Namespace(
            out=str(root), size_mb=size_mb, records=int(size_mb * 365), seed=seed, sessions=sessions,
            projects=min(4, len(PROJECTS), sessions), sidechain_rate=0.17, subagents=subagents, compact_every=2500,
            concat=2, bad_utf8=6, malformed=1, safe_head=0, partial_tail=partial_tail, no_images=False, vault=vault,
        )  # fmt: skip
        root.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.redirect_stdout(io.StringIO()):
            Tree(arguments).run()
    return existing(root)


def existing(root: Path) -> Corpus:
    """Return a corpus that the generator made earlier."""
    manifest = json.loads((root / "manifest.json").read_text(encoding="utf-8"))
    with (root / "threads.jsonl").open(encoding="utf-8") as lines:
        threads = [json.loads(line) for line in lines]
    vault = root / "vault"
    return Corpus(root.name, root, vault if vault.is_dir() else None, manifest, threads)


def real(folder: Path, work: Path) -> Corpus:
    """Return a copy of a person's transcripts, laid out as a configuration folder; the folder itself is only read."""
    root = work / "real"
    if (folder / "projects").is_dir():
        shutil.copytree(folder / "projects", root / "projects")
        return Corpus(str(folder), root)
    for path in sorted(folder.rglob("*.jsonl")):
        if path.is_file():
            target = root / "projects" / placed(path.relative_to(folder))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    return Corpus(str(folder), root)


def placed(path: Path) -> Path:
    """Return where a file goes: the folders above become one project, subagents keep their session's folder."""
    parts = path.parts
    if "subagents" in parts and parts.index("subagents") > 0:
        cut = parts.index("subagents") - 1
        return Path("-".join(parts[:cut]) or "real", *parts[cut:])
    return Path("-".join(parts[:-1]) or "real", parts[-1])


def copied(corpus: Corpus, work: Path) -> Corpus:
    """Return a copy of the corpus that a measurement may append to."""
    root = work / "corpus"
    shutil.copytree(corpus.root / "projects", root / "projects", copy_function=shutil.copy2)
    for entry in ("file-history",):
        if (corpus.root / entry).is_dir():
            shutil.copytree(corpus.root / entry, root / entry)
    old = os.stat(root).st_mtime - 3600  # a scan trusts the times of files that were last written well before it
    for path in root.rglob("*"):
        os.utime(path, (old, old))
    return Corpus(corpus.name, root, corpus.vault, corpus.manifest, corpus.threads)
