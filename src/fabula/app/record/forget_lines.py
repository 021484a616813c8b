"""What a forgetting takes away, in sentences: shown before a person agrees, and as the preview. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fabula.app.record.forget import ForgetResult, HitFile

SHOWN = 8


def preview_lines(result: ForgetResult) -> list[str]:
    """Return the lines of a preview; they hold names and numbers, no recorded text."""
    return [*_what(result), *_where(result.files), *_shared(result), *_quoted(result), *_afterwards(result)]


def _what(result: ForgetResult) -> Iterator[str]:
    what = [f"{one.kind} {one.id}" for one in result.targets]
    if result.pattern:
        what.append("whatever holds the text that was given")
    yield f"To be forgotten for good: {', '.join(what)}"
    others = f" and {result.others:,} other pieces" if result.others else ""
    yield f"  {_counted(result.records, 'record')}{others}, {result.bytes:,} bytes"
    if result.sessions:
        yield f"  whole sessions: {_some(result.sessions)}"
    if result.threads:
        yield f"  whole threads: {_some(result.threads)}"
    if result.attached:
        yield f"  {_counted(result.attached, 'title, pin or card', 'titles, pins and cards')} given to it"


def _where(files: list[HitFile]) -> Iterator[str]:
    yield f"From {_counted(len(files), 'file')} in the vault:"
    for one in files[:SHOWN]:
        states = f", {one.generations} states of it" if one.generations > 1 else ""
        yield f"  {one.path}: {'all of it' if one.whole else _counted(one.records, 'record')}{states}"
    if len(files) > SHOWN:
        yield f"  and {len(files) - SHOWN} more (--json names all)"


def _shared(result: ForgetResult) -> Iterator[str]:
    others = [one for one in result.files if not one.named]
    if others and not result.pattern:
        names = dict.fromkeys(one.session or one.path for one in others)
        yield "Also in files of other sessions (copies, forks), and forgotten there too:"
        yield f"  {_some(names)}"
    if result.staying:
        yield f"{_counted(result.staying, 'record')} that it only repeats of another session stay there."


def _quoted(result: ForgetResult) -> Iterator[str]:
    if result.handed_out:
        readers = dict.fromkeys(one.reader for one in result.handed_out)
        yield f"Handed out {_counted(len(result.handed_out), 'time')}, to {_some(readers)}: the citations go"
    if result.quoting:
        yield "Quoted elsewhere (found by a sample of phrases), and left there:"
        for one in result.quoting[:SHOWN]:
            yield f"  thread {one.thread} of session {one.session} ({one.how})"
        if len(result.quoting) > SHOWN:
            yield f"  and {len(result.quoting) - SHOWN} more (--json names all)"


def _afterwards(result: ForgetResult) -> Iterator[str]:
    if result.unread:
        yield f"Damaged, and not looked into: {_counted(result.unread, 'record')}. First: fabula record verify --repair"
    if result.cutting:
        yield f"Cut out of your agent's own {_counted(len(result.cutting), 'transcript')}, but for what the rest needs:"
        yield f"  {_some(result.cutting)}"
    live = [one.path for one in result.files if one.on_disk and one.path not in result.cutting]
    if live:
        yield f"Your agent's own files stay as they are; {_counted(len(live), 'file')} on disk still hold it."
    yield "Backups and copies of the vault elsewhere keep it until they are made anew."


def _counted(number: int, noun: str, several: str = "") -> str:
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"


def _some(names: Iterable[str]) -> str:
    listed = [*names]
    rest = f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    return ", ".join(listed[:SHOWN]) + rest
