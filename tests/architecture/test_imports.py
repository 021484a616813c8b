"""What may be imported at all, and when."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import fabula

SOURCE = Path(fabula.__file__).parent
SAMPLES = Path(__file__).resolve().parents[1] / "data" / "samples" / "home"
HEAVY = ("numpy", "rich", "click", "argparse", "asyncio", "importlib.metadata", "msgspec", "apsw", "difflib", "tomllib")


def loaded_by(code: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after running ``code`` (its coverage is not measured)."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; sys.stderr.write(' '.join(sys.modules))"],
        capture_output=True,
        check=True,
        text=True,
        env=environment,
    )
    return set(done.stderr.split())


@pytest.mark.parametrize(
    "code",
    [
        "import fabula.cli.main",
        "from fabula.cli.main import main; main(['help'])",
        "from fabula.cli.main import main; main(['manifest', '--json'])",
    ],
)
def test_starting_loads_nothing_heavy(code: str) -> None:
    assert not loaded_by(code) & set(HEAVY)


#: What only scans, vectors, terminals and the writing half of the vault need.
UNASKED = {
    "argparse", "ast", "asyncio", "backports.zstd", "compression.zstd", "dataclasses", "inspect", "msgspec", "numpy",
    "rich", "secrets", "shutil", "tomllib", "fabula.models.static_table", "fabula.record.containers.json_scan",
    "fabula.record.scan.scanner", "fabula.record.vault.verifying", "fabula.record.vault.writing",
    "fabula.storage.packs", "fabula.hosts.opencode.database", "hashlib", "_hashlib",
}  # fmt: skip


def test_a_search_when_nothing_is_new_loads_what_a_search_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(SAMPLES))
    monkeypatch.setenv("FABULA_HOME", str(tmp_path))
    for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(variable)
    search = "main(['record', 'search', '--all', 'token bucket', '--json'])"
    first = loaded_by(f"from fabula.cli.main import main; assert {search} == 0")  # takes the samples in
    assert not first & {"numpy", "rich", "asyncio", "argparse"}
    loaded = loaded_by(f"from fabula.cli.main import main; assert {search} == 0")
    assert "apsw" in loaded
    assert loaded & UNASKED == set()


def test_the_status_needs_no_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(SAMPLES))
    monkeypatch.setenv("FABULA_HOME", str(tmp_path))
    loaded = loaded_by("from fabula.cli.main import main; assert main(['status', '--json']) == 0")
    assert not loaded & {*UNASKED, "apsw"}


def test_the_second_sqlite_library_is_imported_nowhere() -> None:
    banned = {"sqlite3", "_sqlite3", "pysqlite3", "dbm"}
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_bytes())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name.split(".")[0] for name in names} & banned, f"{file}:{node.lineno}"  # type: ignore[attr-defined]


def test_the_kernel_needs_the_standard_library_alone() -> None:
    for file in (SOURCE / "kernel").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_bytes())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.split(".")[0] in {*sys.stdlib_module_names, "fabula"}, f"{file}: {name}"


def test_packages_do_nothing_when_imported() -> None:
    filled = [str(file) for file in SOURCE.rglob("__init__.py") if file.stat().st_size]
    assert not filled


#: The only modules that look at the process they run in.
READERS = {"app/wiring.py"}


def test_the_environment_is_read_in_the_composition_root_alone() -> None:
    found = []
    for file in sorted(SOURCE.rglob("*.py")):
        name = file.relative_to(SOURCE).as_posix()
        for node in ast.walk(ast.parse(file.read_bytes())):
            text = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
            if text in {
                "os.environ",
                "os.environb",
                "os.getenv",
                "os.getcwd",
                "Path.cwd",
                "Path.home",
                "os.path.expanduser",
            }:
                found.append((name, node.lineno, text))  # type: ignore[attr-defined]
    assert not [place for place in found if place[0] not in READERS]
