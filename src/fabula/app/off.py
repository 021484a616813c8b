"""Transcripts of projects that are switched off: told apart before anything of them is taken in."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from fabula.kernel.records import SourceFile
    from fabula.record.sources import Source

HEAD_BYTES = 65_536  # of a transcript, in which its working directory is looked for
_CWD = re.compile(rb'"(?:cwd|directory|working_dir)"\s*:\s*("(?:[^"\\]|\\.){1,4096}")')
_SESSION = re.compile(rb'"sessionID"\s*:\s*("[^"\\]{1,200}")')
_PLAIN = (".jsonl", ".json")


def without_hidden(source: Source, files: Iterable[SourceFile], is_off: Callable[[Path], bool]) -> Iterator[SourceFile]:
    """Yield the files whose session did not run in a folder that is off.

    A file that names no working directory (a tool's output, a backup) goes the way of its session.
    """
    known = [(file, *_identity(source, file)) for file in files]
    verdicts = {cwd: is_off(Path(cwd)) for cwd in {cwd for _, cwd, _ in known if cwd}}
    hidden = {session for _, cwd, session in known if cwd and verdicts[cwd]}
    for file, cwd, session in known:
        if not (verdicts[cwd] if cwd else bool({session, file.parent_session} & hidden - {""})):
            yield file


def _identity(source: Source, file: SourceFile) -> tuple[str, str]:
    """Return (absolute working directory, session id) of a transcript, as its head and its path say; ``""`` if not."""
    try:
        head = _head(source, file)
    except OSError:
        return "", file.session
    named = _text(_SESSION, head)
    cwd = _text(_CWD, head) or _beside(file) or _in_rows(source, file)
    absolute = cwd.startswith("/") or cwd[1:3] in {":\\", ":/"}
    return cwd if absolute else "", file.session or named


def _text(pattern: re.Pattern[bytes], head: bytes) -> str:
    match = pattern.search(head)
    try:
        return str(json.loads(match[1])) if match else ""
    except ValueError:
        return ""


def _head(source: Source, file: SourceFile) -> bytes:
    if file.path.endswith(_PLAIN):
        with open(file.path, "rb") as stream:
            return stream.read(HEAD_BYTES)
    chunk = next(source.container(file).chunks(0), None)
    return chunk.data[:HEAD_BYTES] if chunk else b""


def _in_rows(source: Source, file: SourceFile) -> str:
    """Return the folder that the first rows of a database tell, where they tell it in no text (Cursor's chats)."""
    if "#" not in file.path:
        return ""
    normaliser = source.normaliser(file, None)
    for value in next((chunk.values for chunk in source.container(file).chunks(0)), []):
        record = normaliser.normalise(value.value, value.offset, value.length)
        if not isinstance(record, str) and record.cwd:
            return record.cwd
    return ""


def _beside(file: SourceFile) -> str:
    """Return what a ``.project_root`` file in the two folders above says (Gemini CLI's chats name no directory)."""
    for folder in list(Path(file.path).parents)[:2]:
        try:
            text = (folder / ".project_root").read_bytes()[:4096].decode("utf-8", "replace").strip()
        except OSError:
            continue
        return text if text.startswith("/") else ""
    return ""
