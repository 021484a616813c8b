"""Whole corpora of one program, opened by the other: one that ``fabula`` made, and one that memhtml made."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import apsw
from memhtml_program import hashes
from product import Product

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memhtml_program import Program

BAD = b"<!doctype html><title>bad</title><article><p>there is no claim</p></article>\n"
BATCH: list[dict[str, Any]] = [
    {
        "title": f"Batch <{number}> \u00e9", "type": kind, "tag": ['a"b', "x & y"], "entity": ["tool:x"],
        "workspace": "harbour" if number % 2 else None,
        "body": f"Claim {number} & <b> of a batch. Then so.\n\n```python\nprint({number})\n```\n\nEnd, \u65e5\u672c.",
    }
    for number, kind in enumerate(["semantic", "episodic", "procedural", "verdict", "error_pattern", "precedent"] * 5)
]  # fmt: skip
MARKUP = (
    "<p><mark>The ceiling is <data value='64'>sixty-four</data></mark> since"
    " <time datetime='2026-05-13'>13 May</time>.</p><dl><dt>owner</dt><dd>ops</dd></dl>"
    "<p><q cite='https://example.org/a?b=1&amp;c=2'>so  it was  said</q></p>"
    "<details><summary>More</summary><p>x</p></details>"
)


def whole_corpora(there: Program, command: str, folder: Path) -> dict[str, list[str]]:
    """Run every comparison of corpora; return problems by what was compared."""
    folder.mkdir()
    (folder / "home").mkdir()
    here = Product(command, folder / "fabula", folder / "home", folder, there.names)
    ours, theirs = folder / "ours", folder / "theirs"
    comparisons: dict[str, Callable[[], list[str]]] = {
        "a corpus is made here": lambda: made_here(here, ours),
        "it is whole there": lambda: seen_alike(there, here, ours),
        "one bad file in it is noticed": lambda: bad_file_is_noticed(there, here, ours),
        "a corpus is made there": lambda: made_there(there, theirs),
        "it opens here unchanged": lambda: opens_unchanged(there, here, theirs),
    }
    return {name: attempt(compare) for name, compare in comparisons.items()}


def attempt(compare: Callable[[], list[str]]) -> list[str]:
    """Return the problems of a comparison; a command that fails is one."""
    try:
        return compare()
    except (AssertionError, KeyError, OSError, apsw.Error, subprocess.SubprocessError) as problem:
        return [f"{type(problem).__name__}: {problem}"]


# ── making them ─────────────────────────────────────────────────────
def made_here(here: Product, root: Path) -> list[str]:
    """Make a corpus with every verb that writes."""
    at = ("--corpus", str(root))
    here.data("init", "--memory", str(root))
    batch = root.parent / "batch.jsonl"
    batch.write_text("".join(json.dumps({"op": "write", **line}) + "\n" for line in BATCH), encoding="utf-8")
    paths = [line["path"] for line in here.data("memory", "apply", str(batch), *at)["results"]]
    assert len(set(paths)) == len(BATCH), paths
    marked = here.data(
        "memory", "write", "--title", "Marked", "--type", "semantic", "--article-html", MARKUP, "--importance", "7",
        "--confidence", "0.5", "--session", "s1", *at,
    )["path"]  # fmt: skip
    words = ("--title", "Corrected", "--claim", "Claim 0 was wrong.", "--reason", '"so" & <so>')
    changed = here.data("memory", "correct", paths[0], *words, *at)["path"]
    here.data("memory", "correct", changed, "--title", "Again", "--claim", "Claim 0 was right.", "--reason", "x", *at)
    here.data("memory", "archive", paths[1], "--reason", "no longer needed", *at)
    here.data("memory", "link", paths[2], "supports", marked, *at)
    here.data("memory", "link", paths[3], "contradicts", marked, *at)
    tasks = [
        here.data("memory", "task", "add", title, "--claim", f"{title} must be done.", *at)["path"]
        for title in ("One", "Two", "Three")
    ]
    here.data("memory", "link", tasks[0], "blocks", tasks[1], *at)
    here.data("memory", "task", "status", tasks[1], "doing", *at)
    here.data("memory", "task", "status", tasks[2], "done", *at)
    return []


def made_there(there: Program, root: Path) -> list[str]:
    """Make a corpus with the other program."""
    there.ask(root, "init")
    batch = root.with_suffix(".jsonl")
    lines = [{"op": "write", **{name: value for name, value in line.items() if value}} for line in BATCH]
    batch.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    paths = [line["path"] for line in there.ask(root, "apply", "--file", str(batch))["results"]]
    there.ask(root, "write", "--title", "Marked", "--type", "semantic", "--article-html", MARKUP)
    words = ("--title", "Corrected", "--claim", "Claim 0 was wrong.", "--reason", "so")
    there.ask(root, "correct", paths[0], *words)
    there.ask(root, "archive", paths[1], "--reason", "old")
    there.ask(root, "link", paths[2], "supports", paths[3])
    tasks = [there.ask(root, "task", "add", "--title", title)["path"] for title in ("One", "Two")]
    there.ask(root, "link", tasks[0], "blocks", tasks[1])
    there.ask(root, "task", "status", tasks[1], "doing")
    there.ask(root, "reinforce", paths[4], "--signal", "positive")
    there.ask(root, "state", "export")
    there.ask(root, "publish")
    return []


# ── comparing them ──────────────────────────────────────────────────
def seen_alike(there: Program, here: Product, root: Path) -> list[str]:
    """Index a copy of a corpus there; return where both do not see the same."""
    copy = root.with_name(root.name + "-there")
    if copy.exists():
        there.git(copy, "pull", "-q")
    else:
        there.git(root.parent, "clone", "-q", str(root), str(copy))
    report = there.ask(copy, "index", "rebuild")
    ours = indexed(here, root)
    problems = [f"skipped there: {one}" for one in report["skipped"]]
    if report["filesIndexed"] != len(ours):
        problems.append(f"{report['filesIndexed']} files there, {len(ours)} here")
    theirs = hashes(copy)
    problems += [
        f"{path}: {theirs.get(path)} there, {ours.get(path)} here"
        for path in sorted(ours.keys() | theirs.keys())
        if ours.get(path) != theirs.get(path)
    ]
    doctor = there.ask(copy, "doctor")
    problems += [
        f"doctor there, {what}: {doctor[what]}" for what in ("dangling", "unparseable", "warnings") if doctor[what]
    ]
    unclean = there.git(root, "status", "--porcelain")
    return problems + ([f"not clean here: {unclean}"] if unclean else [])


def bad_file_is_noticed(there: Program, here: Product, root: Path) -> list[str]:
    """Plant a file that is no memory; the comparison above has to fail, and both have to name the file."""
    bad = root / "areas" / "inbox" / "bad.html"
    bad.parent.mkdir(parents=True, exist_ok=True)
    bad.write_bytes(BAD)
    there.git(root, "add", "-A")
    there.git(root, "commit", "-q", "-m", "by hand")
    named = [problem for problem in seen_alike(there, here, root) if "areas/inbox/bad.html" in problem]
    problems = [] if named else ["a bad file went unnoticed"]
    here.data("memory", "index", "update", "--corpus", str(root))
    listed = [row[0] for row in rows(root, "select path from problems join places on places.id = problems.file_id")]
    return problems + ([] if listed == ["areas/inbox/bad.html"] else [f"problems here: {listed}"])


def opens_unchanged(there: Program, here: Product, root: Path) -> list[str]:
    """Open a corpus here; return what changed in it, and where both do not see the same."""
    before = there.git(root, "rev-parse", "HEAD"), there.git(root, "status", "--porcelain")
    counted = there.ask(root, "index", "rebuild")["filesIndexed"]
    ours, theirs = indexed(here, root), hashes(root)
    found = here.data("memory", "search", "claim of a batch", "--all", "--corpus", str(root))
    here.data("memory", "read", next(iter(sorted(ours))), "--corpus", str(root))
    problems = [] if found["hits"] else ["a search finds nothing"]
    after = there.git(root, "rev-parse", "HEAD"), there.git(root, "status", "--porcelain")
    problems += [] if before == after == (before[0], "") else [f"changed: {before} {after}"]
    problems += [] if counted == len(ours) else [f"{counted} files there, {len(ours)} here"]
    return problems + [
        f"{path}: {theirs.get(path)} there, {ours.get(path)} here"
        for path in sorted(ours.keys() | theirs.keys())
        if ours.get(path) != theirs.get(path)
    ]


def indexed(here: Product, root: Path) -> dict[str, str]:
    """Bring the index here up to date; return the content hash of every file in it."""
    here.data("memory", "index", "update", "--corpus", str(root))
    return dict(rows(root, "select path, content_hash from files"))


def rows(root: Path, statement: str) -> list[Any]:
    """Read from the index here."""
    database = apsw.Connection(str(root / ".fabula" / "index.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return list(database.execute(statement))
    finally:
        database.close()
