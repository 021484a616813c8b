"""How faithful a copy of a record is: told by the marks that pruners and harnesses leave, never by its length."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.records import PROVENANCES

if TYPE_CHECKING:
    from fabula.kernel.records import Provenance, Record

#: Lower is better.
RANK: dict[Provenance, int] = {provenance: rank for rank, provenance in enumerate(PROVENANCES)}

_SLIMMED_RESULTS = ("[pruned]", "[slimmed", "[image stripped by fable prune", "[removed by fabula prune")
_REWRITTEN_RESULTS = ("[Old tool result content cleared]", "<persisted-output>")


def provenance_of(record: Record, of_file: Provenance) -> Provenance:
    """Return the provenance of one record in a file of provenance ``of_file``.

    In a slimmed file the records that the pruner left alone cannot be told from touched ones, so the file's word
    stands; in any other file a record is as good as it looks.
    """
    if record.slimmed:
        return "slimmed"
    worst = of_file
    for block in record.blocks:
        text = block.text
        if block.kind == "result" and len(text) < 400:
            if text.startswith(_SLIMMED_RESULTS):
                return "slimmed"
            if text.startswith(_REWRITTEN_RESULTS) and worst == "original":
                worst = "rewritten"
        elif block.kind == "call" and block.input:
            if block.input.get("command") == "# pruned" or block.input.get("file_path") == "/pruned":
                return "slimmed"
        elif block.kind == "text" and text.startswith("[image stripped by"):
            return "slimmed"
    return worst


def content_characters(record: Record) -> int:
    """Characters of a record's decoded content: the fair length, since escapes make the same text longer in bytes."""
    total = 0
    for block in record.blocks:
        total += len(block.text) + block.images
        if block.input:
            total += sum(len(str(value)) for value in block.input.values())
    return total
