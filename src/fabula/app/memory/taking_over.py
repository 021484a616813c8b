"""The verbs ``import markdown`` and ``import claude-mem``: what others remember, taken over in one commit."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import field, frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from fabula.app.memory.access import MemoryAccess
    from fabula.app.wiring import App
    from fabula.memory.importing.values import Account, Found, Placed, Skipped
    from fabula.record.containers.rows import Row

LARGEST_NOTE = 1_000_000  # bytes
MOST_NOTES = 20_000
_NOTES = (".md", ".markdown", ".mdx")
_PASSED = frozenset({"node_modules", "__pycache__", "venv", "target", "dist", "build"})
_ASKED = 500  # hashes at a time


@frozen
class MarkdownRequest:
    """``source``: a note or a folder of notes. ``type`` and ``workspace`` hold for all of them."""

    source: str
    type: str = ""
    workspace: str = ""
    dry_run: bool = False
    corpus: Path | None = None


@frozen
class ClaudeMemRequest:
    """``source``: claude-mem's database, or the folder that holds it; ``""`` for ``~/.claude-mem``."""

    source: str = ""
    dry_run: bool = False
    corpus: Path | None = None


@frozen
class TakenResult:
    """The account of an import: every memory of the source is in one of the lists.

    ``applied``: it was done, else it would be. ``known`` are facts that the memory has, also in its archive.
    """

    source: str
    applied: bool
    commit: str | None
    taken: list[Placed]
    known: list[Placed]
    skipped: list[Skipped]
    notices: list[str] = field(default_factory=list)


def markdown(app: App, request: MarkdownRequest) -> TakenResult:
    """Import notes.

    Raises ``ERR_PATH`` where there are none, ``ERR_USAGE`` for an unknown type, ``ERR_NO_CORPUS``, what commits raise.
    """
    from fabula.memory.importing.notes import read_notes

    source = app.cwd / Path(request.source).expanduser()
    files, skipped = _read_files(source)
    if not files and not skipped:
        raise FabulaError("ERR_PATH", f"{source} holds no Markdown", "name a file or a folder with .md files")
    access = app.memory_at(request.corpus)
    access.corpus()
    workspace = request.workspace or _workspace_of(source)
    found = read_notes(files, kind=request.type, workspace=workspace)
    return _take(access, source, found, skipped, subject="notes", preview=request.dry_run)


def claude_mem(app: App, request: ClaudeMemRequest) -> TakenResult:
    """Import claude-mem's database, which is only read.

    Raises ``ERR_PATH``, ``ERR_IMPORT`` for a database that is damaged or another's, ``ERR_NO_CORPUS``, and what commits
    raise.
    """
    from fabula.memory.importing.claude_mem import read_claude_mem

    given = app.cwd / Path(request.source).expanduser() if request.source else app.user_home / ".claude-mem"
    database = given / "claude-mem.db" if given.is_dir() else given
    if not database.is_file():
        raise FabulaError("ERR_PATH", f"{database} does not exist", "fabula import claude-mem DB|DIR")
    access = app.memory_at(request.corpus)
    access.corpus()
    found = read_claude_mem(_read_tables(database))
    return _take(access, database, found, [], subject="claude-mem", preview=request.dry_run)


def holders_in(access: MemoryAccess) -> Callable[[Iterable[str]], Mapping[str, str]]:
    """Return what tells which memory holds a fact, the active one before those in the archive."""
    index = access.refreshed()

    def holders(hashes: Iterable[str]) -> Mapping[str, str]:
        wanted = sorted(hashes)
        found: dict[str, str] = {}
        for start in range(0, len(wanted), _ASKED):
            some = wanted[start : start + _ASKED]
            marks = ", ".join("?" * len(some))
            rows = index.ask(
                f"select fact_hash, path from files where fact_hash in ({marks}) order by archived, created, path",
                tuple(some),
            )
            for fact, path in rows:
                found.setdefault(str(fact), str(path))
        return found

    return holders


def _take(
    access: MemoryAccess, source: Path, found: Found, skipped: list[Skipped], *, subject: str, preview: bool
) -> TakenResult:
    from fabula.memory.importing.taking import take

    holders = holders_in(access)
    account: Account = take(access.store(), found.candidates, holders, subject=subject, preview=preview)
    if account.commit is not None:
        access.state().wrote([one.path for one in account.taken])
    return TakenResult(
        str(source),
        not preview,
        account.commit,
        account.taken,
        account.known,
        [*skipped, *found.skipped, *account.skipped],
        list(dict.fromkeys((*account.notices, *access.notices))),
    )


def _workspace_of(source: Path) -> str | None:
    from fabula.memory.format.slugs import slug
    from fabula.storage.repository import find_repository

    repository = find_repository(source.resolve() if source.is_dir() else source.resolve().parent)
    return slug(repository.root.name.removesuffix(".git")) if repository is not None else None


# ── reading the sources ──────────────────────────────────────────────
def _read_files(source: Path) -> tuple[dict[str, str], list[Skipped]]:
    from fabula.memory.importing.values import Skipped

    if source.is_file():
        walk: Iterable[tuple[str, Path]] = [(source.name, source)]
    elif source.is_dir():
        walk = _notes_below(source)
    else:
        raise FabulaError("ERR_PATH", f"{source} does not exist", "fabula import markdown DIR")
    files: dict[str, str] = {}
    skipped = []
    for name, path in walk:
        try:
            if path.stat().st_size > LARGEST_NOTE:
                skipped.append(Skipped(name, f"larger than {LARGEST_NOTE:,} bytes"))
            elif len(files) >= MOST_NOTES:
                skipped.append(Skipped(name, f"more than {MOST_NOTES:,} notes: import a folder of them at a time"))
            else:
                files[name] = path.read_bytes().decode("utf-8", "replace")
        except OSError as error:
            skipped.append(Skipped(name, str(error.strerror)))
    return files, skipped


def _notes_below(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield notes in a settled order; hidden folders and those of tools are passed over, links not followed."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if one not in _PASSED and (one == ".claude" or one[0] != "."))
        for name in sorted(names):
            path = Path(place, name)
            if name.lower().endswith(_NOTES) and not path.is_symlink():
                yield path.relative_to(folder).as_posix(), path


def _read_tables(database: Path) -> dict[str, list[Row]]:
    from fabula.memory.importing.claude_mem import TABLES
    from fabula.record.containers.rows import as_os_error, foreign_reader, select_rows

    try:
        with foreign_reader(str(database)) as connection, as_os_error(str(database)):
            names = {
                row["name"] for row in select_rows(connection, "select name from sqlite_schema where type='table'")
            }
            if "observations" not in names:
                raise FabulaError("ERR_IMPORT", f"{database} is no database of claude-mem: it has no observations")
            return {
                name: list(select_rows(connection, f"select * from {name} order by rowid"))
                for name in TABLES
                if name in names
            }
    except OSError as error:
        raise FabulaError("ERR_IMPORT", f"{database} cannot be read: {error}") from error
