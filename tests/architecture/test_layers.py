"""Imports run downwards only, along the arrows that the design draws."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import fabula

SOURCE = Path(fabula.__file__).parent

#: package -> what it may import besides itself and ``kernel``
ARROWS: dict[str, frozenset[str]] = {
    "kernel": frozenset(),
    "storage": frozenset(),
    "redaction": frozenset({"storage", "data"}),
    "search": frozenset({"storage", "data"}),
    "models": frozenset({"storage", "data"}),
    "record": frozenset({"search", "redaction", "models", "storage", "data"}),
    "memory": frozenset({"search", "redaction", "models", "storage", "data"}),
    # hosts speak the protocols of the record plane, share its readers of byte forms, and write by its rules
    "hosts": frozenset(
        {
            "record.sources",
            "record.containers",
            "record.rewriting",
            "record.composing",
            "record.reading.sentinels",
            "storage",
        }
    ),
    "app": frozenset({"hosts", "record", "memory", "search", "redaction", "models", "storage", "data"}),
    "cli": frozenset({"app"}),  # and, for annotations alone, the values that results are made of
    "testing": frozenset({"app", "hosts", "record", "memory", "search", "redaction", "models", "storage"}),
    "data": frozenset(),
}


def annotations_only(module: ast.Module) -> set[int]:
    """Return the lines of imports that only a type checker follows."""
    blocks = [
        node for node in module.body if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
    ]
    return {line for block in blocks for line in range(block.lineno, (block.end_lineno or block.lineno) + 1)}


def imported(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield (line, dotted name) of everything of ours that a module imports, also inside functions."""
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "absolute imports only"
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def test_every_import_follows_an_arrow() -> None:
    wrong = []
    for file in sorted(SOURCE.rglob("*.py")):
        relative = file.relative_to(SOURCE)
        if len(relative.parts) == 1:  # fabula/__main__.py is the command line's door
            continue
        package = relative.parts[0]
        module = ast.parse(file.read_bytes())
        for line, name in imported(module):
            if package == "cli" and line in annotations_only(module):
                continue
            parts = name.split(".")
            if parts[0] != "fabula" or len(parts) == 1 or parts[1] in {package, "kernel"}:
                continue
            allowed = ARROWS[package]
            if not any(parts[1 : 1 + arrow.count(".") + 1] == arrow.split(".") for arrow in allowed):
                wrong.append(f"{relative}:{line}: {package} -> {'.'.join(parts[1:])}")
    assert not wrong, "\n".join(wrong)


def test_every_package_has_its_arrows() -> None:
    packages = {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert packages <= set(ARROWS)


def test_the_record_plane_knows_no_host_by_name() -> None:
    named = []
    for file in sorted((SOURCE / "record").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.Compare):
                values = [side.value for side in (node.left, *node.comparators) if isinstance(side, ast.Constant)]
                named += [
                    f"{file}:{node.lineno}: {v!r}" for v in values if v in {"claude", "codex", "gemini", "opencode"}
                ]
    assert not named, "\n".join(named)
