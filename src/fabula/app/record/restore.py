"""The verb ``record restore``: a sealed file back, byte for byte, any generation of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from fabula.kernel.commands import record_command
from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.record.containers.rebuilt import rebuild_database
from fabula.record.reading.catalogue import sources_of_session
from fabula.record.reading.identify import identify
from fabula.record.scan.changes import is_plain
from fabula.record.vault.vault import Vault
from fabula.storage.files import disk_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fabula.app.wiring import App
    from fabula.record.vault.values import Generation, SourceEntry

DATABASE_SUFFIXES = (".db", ".sqlite", ".sqlite3")
_SHOWN = 8  # files that an ambiguous session names


@frozen
class RestoreRequest:
    """``target``: a session's id, a beginning of it that is unique, or the path of a file that was sealed.

    ``without_forgotten``: give what is left of a file of which something was forgotten, which is refused else.
    ``generation`` is a number; ``None`` means the newest. ``output`` is a file that does not exist yet; ``None`` means
    standard output. The rows of a session in a database are
    given as the lines that they were sealed as, or as a database when the output's name ends in ``.db``.
    """

    target: str
    generation: int | None = None
    output: Path | None = None
    without_forgotten: bool = False


@frozen
class Hole:
    """A span of the file as it was that was forgotten on purpose."""

    offset: int
    length: int


@frozen
class SealedGeneration:
    """One state of the file that can be restored."""

    number: int
    provenance: str
    size: int
    begun_at: int
    sealed_at: int


@dataclass(frozen=True)  # with a dictionary: it carries the stream, which is no field
class RestoreResult:
    """Which file and generation; where it was written to, if it was; and what else there is.

    ``size`` counts what was forgotten too; ``holes`` say where it was.
    """

    path: str
    host: str
    session: str
    generation: int
    size: int
    vanished_at: int | None
    output: str | None
    generations: list[SealedGeneration]
    holes: list[Hole]

    def pieces(self) -> Iterator[bytes]:
        """Yield the bytes of a generation that was not written to a file. Raises ``ERR_VAULT_DAMAGED``."""
        stream: Callable[[], Iterator[bytes]] = getattr(self, "_stream", lambda: iter(()))
        return stream()


def restore(app: App, request: RestoreRequest) -> RestoreResult:
    """Restore a generation. Raises ``ERR_NO_RECORD``, ``ERR_NOT_FOUND``, ``ERR_AMBIGUOUS``, ``ERR_VAULT_DAMAGED``,
    ``ERR_FORGOTTEN``, ``ERR_PATH`` (the output exists, or its folder does not), ``ERR_DISK``.
    """
    folder = app.home.vault
    with Vault.open(folder, app.clock, read_only=True) as vault:
        entry = find_sealed(app, vault.sources(), request.target)
        generation = _choose(entry, request.generation)
        holes = vault.holes(generation.id)
        if holes and not request.without_forgotten:
            raise _forgotten(entry, generation, holes)
        if request.output is not None:
            if os.path.lexists(request.output):
                raise FabulaError("ERR_PATH", f"{request.output} exists already", "name a file that does not exist")
            _write(vault, entry, generation, request.output, holes)
    result = RestoreResult(
        path=entry.path,
        host=entry.host,
        session=entry.session,
        generation=generation.number,
        size=generation.size,
        vanished_at=entry.vanished_at,
        output=None if request.output is None else str(request.output),
        generations=[
            SealedGeneration(g.number, g.provenance, g.size, g.begun_at, g.sealed_at) for g in entry.generations
        ],
        holes=[Hole(*hole) for hole in holes],
    )
    if request.output is None:
        object.__setattr__(result, "_stream", lambda: _stream(app, generation.id))
    return result


def _forgotten(entry: SourceEntry, generation: Generation, holes: list[tuple[int, int]]) -> FabulaError:
    gone = sum(length for _, length in holes)
    return FabulaError(
        "ERR_FORGOTTEN",
        f"{gone:,} of {generation.size:,} bytes of {entry.path} were forgotten on purpose, in {len(holes)} places",
        f"fabula record restore {quote(entry.path)} --generation {generation.number} --without-forgotten",
    )


def _rest(vault: Vault, generation_id: int, holes: list[tuple[int, int]]) -> Iterator[bytes]:
    """Yield a generation; of one with holes what is left."""
    if not holes:
        return vault.stream(generation_id)
    from fabula.record.vault.restoring import without_holes

    return iter([without_holes(b"".join(vault.stream(generation_id, fill=b" ")), holes)])


def _write(
    vault: Vault, entry: SourceEntry, generation: Generation, output: Path, holes: list[tuple[int, int]]
) -> None:
    """Write the file as it was; the rows of a database become a database where the output is named as one."""
    if holes and (is_plain(entry.path) or output.suffix not in DATABASE_SUFFIXES):
        from fabula.record.vault.restoring import restore as write

        write(_rest(vault, generation.id, holes), output)
        return
    if is_plain(entry.path) or output.suffix not in DATABASE_SUFFIXES:
        vault.restore(generation.id, output)
        return
    with disk_errors(output):
        rebuild_database(_lines(_rest(vault, generation.id, holes)), str(output))


def _lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines
    if rest:
        yield rest


def _stream(app: App, generation_id: int) -> Iterator[bytes]:
    """Read while it is written out: a result need not fit into memory."""
    with Vault.open(app.home.vault, app.clock, read_only=True) as vault:
        yield from _rest(vault, generation_id, vault.holes(generation_id))


def find_sealed(app: App, entries: list[SourceEntry], target: str, verb: str = "restore") -> SourceEntry:
    """Find the one sealed file that a session's id or a path names. Raises ``ERR_NOT_FOUND``, ``ERR_AMBIGUOUS``.

    ``verb`` is the command that is suggested where several are named.
    """
    sealed = [entry for entry in entries if entry.generations and target]
    path = os.path.normpath(app.cwd / target)
    found = [entry for entry in sealed if entry.path in {target, path}]
    if not found and os.sep in target:  # links may lead there another way than the source went
        real, name = os.path.realpath(path), os.path.basename(path)
        found = [entry for entry in sealed if entry.path.endswith(name) and os.path.realpath(entry.path) == real]
    if not found:
        found = _of_session([entry for entry in sealed if entry.session == target], target)
    if not found and target:
        begun = [entry for entry in sealed if entry.session.startswith(target)]
        found = _of_session(begun, target) if len({entry.session for entry in begun}) == 1 else begun
    if not found:
        named = _paths_of(app, target)
        found = [entry for entry in sealed if entry.path in named]
    if not found:
        raise FabulaError(
            "ERR_NOT_FOUND", f"the vault holds no file or session {target!r}", "fabula record sessions --all"
        )
    if len(found) > 1:
        names = [record_command(verb, entry.path) for entry in found[:_SHOWN]]
        raise FabulaError(
            "ERR_AMBIGUOUS", f"{len(found)} sealed files belong to {target}: name one by its path", *names
        )
    return found[0]


def _paths_of(app: App, target: str) -> set[str]:
    """Return the files that hold a session whose id stands only inside of them: the map has read it, the vault has not.

    Empty where the map knows no such session, or there is no map. Raises ``ERR_AMBIGUOUS``.
    """
    try:
        reader = app.reader()
        session = identify(reader, target, "session").id
        return {source.path for source in sources_of_session(reader, session) if not source.aside}
    except FabulaError as error:
        if error.code == "ERR_AMBIGUOUS":
            raise
        return set()


def _of_session(entries: list[SourceEntry], target: str) -> list[SourceEntry]:
    """Of a session's files, prefer the one file that is named after it: the others came up in it."""
    named = [entry for entry in entries if target in Path(entry.path).name]
    return named if len(named) == 1 else entries


def _choose(entry: SourceEntry, number: int | None) -> Generation:
    if number is None:
        return entry.generations[-1]
    for generation in entry.generations:
        if generation.number == number:
            return generation
    raise FabulaError(
        "ERR_NOT_FOUND",
        f"{entry.path} has no generation {number}",
        *(f"fabula record restore {quote(entry.path)} --generation {g.number}" for g in entry.generations[:_SHOWN]),
    )
