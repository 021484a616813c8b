"""The verb ``memory export``: the memories as files of a folder: pages as they are, notes, or lines of JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabula.app.memory.access import MemoryAccess
    from fabula.app.wiring import App
    from fabula.memory.format.reader import Reading

Form = Literal["html", "markdown", "jsonl"]
LINES = "memories.jsonl"


@frozen
class ExportRequest:
    """``folder``: absent or empty. ``include_archived``: the archive as well."""

    folder: str
    format: Form = "html"
    include_archived: bool = False
    corpus: Path | None = None


@frozen
class ExportResult:
    """What was written. ``left_out``: files that are no memories now."""

    folder: str
    format: str
    memories: int
    bytes: int
    left_out: list[str]
    notices: tuple[str, ...]


def export(app: App, request: ExportRequest) -> ExportResult:
    """Write all memories into a folder; the same memories give the same bytes.

    Raises ``ERR_PATH`` for a folder with anything in it, ``ERR_NO_CORPUS``, ``ERR_DISK``, ``ERR_READ_ONLY``.
    """
    from fabula.memory.exporting.forms import as_line, as_markdown
    from fabula.storage.files import disk_errors

    folder = app.cwd / Path(request.folder).expanduser()
    access = app.memory_at(request.corpus)
    access.corpus()
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise FabulaError("ERR_PATH", f"{folder} is no empty folder", "name another one, or empty it")
    left_out: list[str] = []
    count = size = 0
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lines: list[bytes] = []
        for path, reading in _memories(access, left_out, archived=request.include_archived):
            count += 1
            if request.format == "jsonl":
                lines.append(as_line(path, reading).encode("utf-8", "replace"))
                continue
            name = path if request.format == "html" else f"{path}.md"
            is_page = request.format == "html"
            data = reading.source.data if is_page else as_markdown(path, reading).encode("utf-8", "replace")
            size += _write(folder / name, data)
        if request.format == "jsonl":
            size += _write(folder / LINES, b"".join(lines))
    return ExportResult(str(folder), request.format, count, size, left_out, access.notices)


def _memories(access: MemoryAccess, left_out: list[str], *, archived: bool) -> Iterator[tuple[str, Reading]]:
    """Yield the memories of the work tree by path."""
    from fabula.memory.store.reading import read_memory

    known = access.refreshed(thorough=True)
    left_out += [problem.path for problem in known.problems()]
    for path, is_archived in known.ask("select path, archived from files order by path"):
        if is_archived and not archived:
            continue
        try:
            memory = read_memory(access.root, str(path))
        except FabulaError:
            left_out.append(str(path))
            continue
        yield memory.path, memory.reading


def _write(path: Path, data: bytes) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return len(data)
