"""Files stay small, finished, and free of anything that belongs to one machine."""

from __future__ import annotations

import ast
import re
import statistics
import subprocess
from pathlib import Path

import fabula

SOURCE = Path(fabula.__file__).parent
REPOSITORY = Path(__file__).resolve().parents[2]
LONGEST_FILE, LONGEST_MEDIAN, LONGEST_FUNCTION = 450, 200, 60


def source_files() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def tracked_files() -> list[Path]:
    """Every text file that is committed; outside a checkout, every file of the project's folders."""
    done = subprocess.run(["git", "-C", str(REPOSITORY), "ls-files", "-z"], capture_output=True, check=False)
    names = [name for name in done.stdout.decode("utf-8", "surrogateescape").split("\0") if name]
    found = [REPOSITORY / name for name in names] or source_files()
    return [file for file in found if file.is_file() and not file.is_symlink()]


def test_files_are_rooms_and_not_halls() -> None:
    sizes = {file: len(file.read_bytes().splitlines()) for file in source_files() if file.stat().st_size}
    assert not [f"{file}: {lines}" for file, lines in sizes.items() if lines > LONGEST_FILE]
    assert statistics.median(sizes.values()) <= LONGEST_MEDIAN


def test_every_test_file_has_a_name_of_its_own() -> None:
    # tests are no package: two files of one name cannot both be imported
    names = [file.name for file in (REPOSITORY / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))


def test_functions_fit_a_screen() -> None:
    long = []
    for file in source_files():
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                long += [f"{file}:{node.lineno}: {node.name} has {lines} lines"] if lines > LONGEST_FUNCTION else []
    assert not long, "\n".join(long)


def test_nothing_public_lacks_its_docstring() -> None:
    silent = []
    for file in source_files():
        tree = ast.parse(file.read_bytes())
        if file.stat().st_size and not ast.get_docstring(tree):
            silent.append(str(file))
        classes = [c for c in tree.body if isinstance(c, ast.ClassDef) and not c.name.startswith("_")]
        for node in [*tree.body, *(part for c in classes for part in c.body)]:
            named = isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
            if named and not ast.get_docstring(node):  # type: ignore[arg-type]
                silent.append(f"{file}:{node.lineno}: {node.name}")  # type: ignore[attr-defined]
    assert not silent, "\n".join(silent)


def test_nothing_is_left_unfinished() -> None:
    marks = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b|NotImplementedError")
    left = [str(file) for file in source_files() if marks.search(file.read_text("utf-8"))]
    assert not left


#: Words in two halves, so that this file does not find itself.
_HALVES = (
    (r"/wo", r"rk/(?:main|shared)"),
    (r"/tmp/co", r"rp\b"),
    (r"\.\./sha", r"red\b"),
    (r"\bfarm-be", r"nch\b"),
    (r"\bpypi\.o", r"rg\b"),
    (r"\bregistry\.npm", r"js\.org\b"),
    (r"\bfiles\.pythonho", r"sted\.org\b"),
    (r"/root/\.pye", r"nv\b"),
)
FORBIDDEN = re.compile("|".join("".join(halves) for halves in _HALVES))


def test_no_committed_file_names_a_place_of_one_machine_or_a_registry() -> None:
    named = []
    for file in tracked_files():
        match = FORBIDDEN.search(file.read_bytes().decode("utf-8", "replace"))
        if match:
            named.append(f"{file}: {match[0]}")
    assert not named, "\n".join(named)
