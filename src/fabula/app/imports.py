"""The verb ``import fable``: titles, cards, facts, citations and sealed generations of a fable installation.

The source is read only. Without ``apply`` nothing is changed at all: the account says what would be.
"""

from __future__ import annotations

import os
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING

from fabula.app.record.scan import Problem
from fabula.hosts.claude.generations import GenerationFolder
from fabula.kernel.errors import FabulaError
from fabula.kernel.hashes import digest
from fabula.kernel.values import field, frozen
from fabula.record.importing.fable import locate, read_tables
from fabula.record.importing.plan import plan
from fabula.record.importing.writing import read_here, write
from fabula.record.vault.keepsakes import Keepsakes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabula.app.wiring import App
    from fabula.kernel.records import SourceFile
    from fabula.record.importing.counts import Count
    from fabula.record.importing.fable import Installation, Tables
    from fabula.record.importing.plan import Here, Plan
    from fabula.record.scan.report import Progress

_NOT_HELD = frozenset(("ERR_NOT_FOUND", "ERR_AMBIGUOUS", "ERR_NO_RECORD", "ERR_STALE", "ERR_FORGOTTEN"))


@frozen
class FableRequest:
    """``source``: a ``fable.db`` or the folder that holds it, ``""`` for ``~/.fable``; ``vault``: its generations.

    ``apply`` does it; without it the result says what would be done.
    """

    source: str = ""
    vault: tuple[Path, ...] = ()
    apply: bool = False
    progress: Progress | None = None


@frozen
class GenerationAccount:
    """Files of the vault folders: ``files == new + there``; ``others`` are no generations and stay out."""

    folders: tuple[str, ...]
    files: int
    bytes: int
    new: int
    there: int
    others: int


@frozen
class FableResult:
    """The account of every row and file. ``applied``: it was done; else it would be."""

    database: str
    applied: bool
    tables: list[Count]
    generations: GenerationAccount
    next: str  # the command that does what was previewed
    problems: list[Problem] = field(default_factory=list)


def fable(app: App, request: FableRequest) -> FableResult:
    """Import a fable installation; the record takes in what is new first, as before every read.

    Raises ``ERR_PATH``, ``ERR_IMPORT``, ``ERR_LOCKED``, ``ERR_DISK``, ``ERR_READ_ONLY``.
    """
    given = Path(request.source) if request.source else app.user_home / ".fable"
    found = locate(app.cwd / given, request.vault)
    tables = read_tables(found.database)
    app.refresh()
    source = GenerationFolder(found.vaults)
    account, fresh = _generations(app, found, source)
    if request.apply and fresh:
        app.record.scan(extra=[source], progress=request.progress)
    made = plan(tables, _here(app), _Digests(app, source, () if request.apply else fresh, set(_cited(tables))))
    if request.apply:
        _write(app, made)
    problems = [Problem(path, reason) for path, reason in source.problems()]
    following = "" if request.apply else _again(request)
    return FableResult(str(found.database), request.apply, made.counts, account, following, problems)


def _again(request: FableRequest) -> str:
    words = ["fabula", "import", "fable", *([request.source] if request.source else [])]
    words += [word for folder in request.vault for word in ("--vault", str(folder))]
    return join([*words, "--apply"])


# ── generations ──────────────────────────────────────────────────────


def _generations(
    app: App, found: Installation, source: GenerationFolder
) -> tuple[GenerationAccount, tuple[SourceFile, ...]]:
    """Count the generations; return those that are not sealed as they are as well."""
    vault = app.vault()
    sealed = {
        (entry.path, generation.number): generation.size
        for entry in (vault.sources() if vault is not None else ())
        for generation in entry.generations
    }
    files = list(source.discover())
    fresh = tuple(file for file in files if sealed.get((file.path, file.generation)) != file.size)
    everything = sum(len(names) for folder in found.vaults for _, _, names in os.walk(folder))
    return GenerationAccount(
        tuple(map(str, found.vaults)),
        len(files),
        sum(file.size for file in files),
        len(fresh),
        len(files) - len(fresh),
        max(everything - len(files), 0),
    ), fresh


# ── rows ─────────────────────────────────────────────────────────────


def _here(app: App) -> Here:
    vault = app.vault()
    return read_here(vault.journal if vault is not None else None)


def _cited(tables: Tables) -> Iterator[str]:
    for row in tables.rows.get("citations", []):
        ref = str(row.get("ref"))
        yield tables.first_records.get(ref, ref)


class _Digests:
    """Digests of records' bytes: of the record, and in a preview of generations that would be sealed."""

    def __init__(self, app: App, source: GenerationFolder, fresh: tuple[SourceFile, ...], wanted: set[str]) -> None:
        self._app = app
        self._source, self._fresh, self._wanted = source, fresh, wanted
        self._coming: dict[str, bytes] | None = None

    def __call__(self, uid: str) -> bytes | None:
        """Return a record's digest, ``None`` where nothing holds it."""
        try:
            loader = self._app.loader()
            row = loader.row(uid)
            if row.uid == uid:
                return digest(loader.raw(row)[0])
        except FabulaError as error:
            if error.code not in _NOT_HELD:
                raise
        if self._coming is None:
            self._coming = self._read_coming() if self._wanted else {}
        return self._coming.get(uid)

    def _read_coming(self) -> dict[str, bytes]:
        coming: dict[str, bytes] = {}
        for file in self._fresh:
            try:
                for chunk in self._source.container(file).chunks():
                    for value in chunk.values:
                        uid = value.value.get("uuid") if isinstance(value.value, dict) else None
                        if isinstance(uid, str) and uid in self._wanted:
                            at = value.offset - chunk.offset
                            coming.setdefault(uid, digest(chunk.data[at : at + value.length]))
            except OSError:
                continue  # the scan that seals it says so
        return coming


def _write(app: App, made: Plan) -> None:
    from fabula.record.vault.journal import Journal

    Keepsakes.open(app.home.vault, app.clock).close()  # it says what is wrong with a journal that cannot be written
    journal = Journal.open(app.home.vault, read_only=False)
    try:
        write(journal, made, app.clock)
    finally:
        journal.close()
    for session, title in made.titles.items():
        app.record.retitle(session, title)
