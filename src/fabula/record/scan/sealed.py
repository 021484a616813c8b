"""Mapping what only the vault still holds: sources that vanished and generations that were overwritten.

Needed when the map is made anew: everything else is mapped when it is read from disk.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from fabula.kernel.records import SourceFile
from fabula.kernel.values import replace
from fabula.record.containers.jsonl import JsonLines
from fabula.record.map.files import file_at, insert_file
from fabula.record.rewriting.links import link_of
from fabula.record.scan.changes import is_plain
from fabula.record.scan.reading import FileReading
from fabula.record.scan.straining import sieve_for
from fabula.storage.files import ensure_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import apsw

    from fabula.record.ingest.caches import Names
    from fabula.record.sources import Container, Source
    from fabula.record.vault.values import Generation, SourceEntry
    from fabula.record.vault.vault import Vault

#: Chooses among the generations of sources.
SealedChoice: TypeAlias = "Callable[[SourceEntry, Generation], bool]"
#: Key in ``meta``: what vault and map held when every generation was mapped.
_ALL_MAPPED = "all_mapped"
NEVER_NS = -1  # a stat that no file has
SCRATCH_PREFIX = "fabula-"


def sealed_only(connection: apsw.Connection, vault: Vault) -> list[tuple[SourceEntry, Generation]]:
    """Return the generations that the map does not know, older ones of a source first.

    Where there are none this is noted, so that the next scan only adds up. The caller holds a transaction.
    """
    sums = "select count(vault_generation), coalesce(sum(vault_generation), 0) from file_rows"
    state = " ".join(map(str, (*vault.holdings(), *(connection.execute(sums).fetchone() or ()))))
    known = connection.execute("select value from meta where key = ?", (_ALL_MAPPED,)).fetchone()
    if known is not None and known[0] == state:
        return []
    found = connection.execute("select vault_generation from file_rows where vault_generation is not null")
    mapped = {row for (row,) in found}
    if mapped.issuperset(vault.generation_ids()):
        connection.execute("insert or replace into meta(key, value) values(?, ?)", (_ALL_MAPPED, state))
        return []
    return [
        (entry, generation)
        for entry in vault.sources()
        for generation in entry.generations
        if generation.id not in mapped and generation.size
    ]


def slimmed_later(entry: SourceEntry, generation: Generation) -> bool:
    """Say whether a later state of the file is a slimmed one.

    Such a generation is mapped before the file on disk, as it was when the file was slimmed: of records met first in
    their slimmed form the text would be searched twice, and what stands in the place of their results as well.
    """
    return any(later.provenance == "slimmed" and later.id > generation.id for later in entry.generations)


def scratch_folder(home: Path) -> Path:
    """Return a private folder for copies; what a killed process left there goes. The writer lock is held."""
    folder = home / "scratch"
    for left in folder.glob(f"{SCRATCH_PREFIX}*"):  # alone: a person's own folder may have that name
        shutil.rmtree(left, ignore_errors=True)
    ensure_folder(folder)
    return folder


class SealedReader:
    """Opens sealed generations as if they were files on disk."""

    def __init__(self, connection: apsw.Connection, vault: Vault, sources: Mapping[str, Source], scratch: Path) -> None:
        self._connection = connection
        self._vault = vault
        self._sources = sources
        self._scratch = scratch

    def open(self, entry: SourceEntry, generation: Generation, names: Names) -> Iterator[tuple[int, FileReading]]:
        """Yield the one (session, reading) of a generation; its scratch copy is gone afterwards.

        Nothing is yielded when no source reads that host any more. Raises ``OSError``, ``ERR_VAULT_DAMAGED``.
        """
        source = self._sources.get(entry.host)
        if source is None:
            return
        file = self._source_file(entry, generation)
        session = names.file_session(file)
        with tempfile.TemporaryDirectory(prefix=SCRATCH_PREFIX, dir=self._scratch) as folder:
            copy = Path(folder) / (Path(entry.path.partition("#")[0]).name or "source")
            self._vault.restore(generation.id, copy, fill=b" ")  # what was forgotten is no value any more
            known = insert_file(self._connection, file, session, 0)
            known.vault_generation = generation.id
            newest = generation.id == max(each.id for each in entry.generations)
            known.vanished_at = entry.vanished_at or (entry.last_seen if newest else None)
            yield (
                session,
                FileReading(
                    file=file,
                    known=known,
                    container=self._container(source, file, copy),
                    normaliser=source.normaliser(file, None),
                    vault=None,
                    sealed_to=generation.size,
                    sieve=sieve_for(self._vault, file.path),
                ),
            )

    def _container(self, source: Source, file: SourceFile, copy: Path) -> Container:
        if is_plain(file.path):
            return source.container(replace(file, path=str(copy), size=copy.stat().st_size))
        return JsonLines(str(copy))  # rows and compressed lines are sealed as lines

    def _source_file(self, entry: SourceEntry, generation: Generation) -> SourceFile:
        newest = generation.id == max(each.id for each in entry.generations)
        taken = file_at(self._connection, entry.path, -1)
        live = newest and taken is None and not generation.immutable
        ours = link_of(self._vault.journal, generation) is not None  # its lines say for themselves what they lack
        return SourceFile(
            entry.host, entry.path, entry.kind, entry.session, generation.size, NEVER_NS, NEVER_NS, 0, entry.parent,
            not live, "original" if ours else generation.provenance, -1 if live else generation.number,
        )  # fmt: skip
