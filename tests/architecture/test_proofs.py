"""The page of proofs names tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
PAGE = TESTS.parent / "docs" / "internals" / "proofs.md"
ROW = re.compile(r"^\| (?P<behaviour>[^|]+) \| (?P<tests>[^|]+) \|$", re.MULTILINE)
PROOF = re.compile(r"`(?P<file>[\w/]+\.py)::(?P<name>\w+)`")


def rows() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return (behaviour, tests as file and name) of every row below a table's head."""
    found = [(row["behaviour"], PROOF.findall(row["tests"])) for row in ROW.finditer(PAGE.read_text("utf-8"))]
    return [row for row in found if row[0] != "behaviour" and set(row[0]) != {"-"}]


def functions(file: Path) -> set[str]:
    """Return the names of a module's test functions, those inside classes too."""
    tree = ast.parse(file.read_bytes())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_test_that_the_page_names_exists() -> None:
    missing = []
    for _, tests in rows():
        for file, name in tests:
            path = TESTS / file
            if not path.is_file() or name not in functions(path) or not name.startswith("test_"):
                missing.append(f"{file}::{name}")
    assert not missing, "\n".join(missing)


def test_every_behaviour_has_a_test_and_is_listed_once() -> None:
    listed = rows()
    assert len(listed) > 100
    assert not [behaviour for behaviour, tests in listed if not tests]
    assert len({behaviour for behaviour, _ in listed}) == len(listed)
