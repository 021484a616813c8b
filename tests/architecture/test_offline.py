"""Nothing in the source can talk to another machine, but for the embedder that a person configures with an address."""

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
#: Imported by ``models.choosing`` alone, for a provider that the settings name; the default is another.
CONFIGURED = "models/http_embedder.py"


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
        if file.relative_to(SOURCE).as_posix() != CONFIGURED
        for name in imported(file)
        if any(name == module or name.startswith(f"{module}.") for module in NETWORK)
    }
    assert not talking


def test_the_one_that_talks_is_imported_where_the_settings_name_it_and_nowhere_else() -> None:
    module = "fabula." + CONFIGURED.removesuffix(".py").replace("/", ".")
    importing = {str(file.relative_to(SOURCE).as_posix()) for file in SOURCE.rglob("*.py") if module in imported(file)}
    assert importing == {"models/choosing.py"}
    top = ast.parse((SOURCE / "models/choosing.py").read_bytes()).body
    assert not [node for node in top if isinstance(node, ast.ImportFrom) and node.module == module]
