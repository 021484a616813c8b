"""The gate before every write: what is written keeps to the format, does nothing in a browser, and has a size.

It is stricter than reading. Files of other writers may hold what the format merely warns of; ours hold nothing that a
browser would load or run, times that sort as text, and no more than a bounded amount of anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.memory.format.canonical import one_line
from fabula.memory.format.document import write
from fabula.memory.format.findings import Finding, joined
from fabula.memory.format.reader import read
from fabula.memory.format.times import in_written_form, is_written_form
from fabula.memory.format.vocabulary import REPEATABLE, TIMES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabula.memory.format.document import Document
    from fabula.memory.format.reader import Reading

LARGEST_FILE = 256 * 1024  # bytes
LONGEST_TITLE, LONGEST_CLAIM, LONGEST_VALUE = 300, 2_000, 1_000  # characters
MOST_VALUES = 64  # of one repeatable meta, and of links


def render(document: Document) -> bytes:
    """Return the file of a document that may be written.

    Raises:
        FabulaError: with all that is wrong, joined by ``; ``.
    """
    return rendered(document).source.data


def rendered(document: Document) -> Reading:
    """Return the file of a document that may be written, as it was read to be looked at.

    Raises:
        FabulaError: as :func:`render`.
    """
    reading = read(write(document))
    findings = _refusals(reading)
    if findings:
        message = f"This is not a memory that can be written: {joined(findings)}"
        raise FabulaError("ERR_MEMORY_FORMAT", message, *dict.fromkeys(finding.fix for finding in findings))
    return reading


def refusals(data: bytes) -> list[Finding]:
    """Return why a file may not be written: violations, what would act in a browser, loose times, sizes."""
    return _refusals(read(data))


def _refusals(reading: Reading) -> list[Finding]:
    if reading.violations:
        return reading.violations
    loose = [found for found in reading.warnings if found.group in {"active", "file"}]
    return [*loose, *_times(reading), *_sizes(reading)]


def _times(reading: Reading) -> Iterator[Finding]:
    texts = [(meta.name, meta.content) for meta in reading.metas if meta.name in TIMES]
    texts += [("<time>", when) for when in reading.content.times]
    for name, text in texts:
        if not is_written_form(text):
            better = in_written_form(text) or "2026-05-14 or 2026-05-14T08:20:00Z"
            message = f'{name} "{text}" is neither a day nor a UTC time to the second'
            yield Finding("metas", message, reading.source.place(0), f"write {better}")


def _sizes(reading: Reading) -> Iterator[Finding]:
    metas = reading.metas
    names = [meta.name for meta in metas]
    counts = {name: names.count(name) for name in sorted(REPEATABLE)}
    values = [len(meta.content) for meta in metas]
    sizes = [
        ("the file", len(reading.source.data), LARGEST_FILE, "bytes"),
        ("the title", len(reading.title), LONGEST_TITLE, "characters"),
        ("the claim", len(one_line(reading.content.claim)), LONGEST_CLAIM, "characters"),
        ("a value of the head", max(values, default=0), LONGEST_VALUE, "characters"),
        ("the links", len(reading.links), MOST_VALUES, "in all"),
        *[(name, count, MOST_VALUES, "in all") for name, count in counts.items()],
    ]
    for what, size, limit, unit in sizes:
        if size > limit:
            message = f"{what}: {size} {unit}, at most {limit}"
            yield Finding("file", message, reading.source.place(0), "split it into several memories, or shorten it")
