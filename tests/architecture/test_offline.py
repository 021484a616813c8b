"""Nothing in the source can talk to another machine."""

from __future__ import annotations

import ast
from pathlib import Path

import fabula

SOURCE = Path(fabula.__file__).parent
#: Modules of the standard library, and common others, that open connections.
NETWORK = frozenset({
    "aiohttp", "ftplib", "http.client", "http.server", "httpx", "imaplib", "poplib", "requests", "smtplib", "socket",
    "socketserver", "ssl", "telnetlib", "urllib.request", "urllib3", "xmlrpc",
})  # fmt: skip


def imported(file: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def test_no_module_that_opens_connections_is_imported() -> None:
    talking = {
        f"{file.relative_to(SOURCE)}: {name}"
        for file in SOURCE.rglob("*.py")
        for name in imported(file)
        if any(name == module or name.startswith(f"{module}.") for module in NETWORK)
    }
    assert not talking
