"""Laws that hold for the reader of every host's transcripts, as assertions for its tests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fabula.kernel.records import KINDS, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fabula.kernel.records import SourceFile
    from fabula.record.sources import Normaliser, Source

NAME_LIMIT = 200  # characters of what a skipped value is called


def assert_total(normaliser_of: Callable[[Any], Normaliser], values: Iterable[Any]) -> None:
    """Any sequence of values gives records or named skips, also with a state that was saved in between.

    ``normaliser_of`` makes a normaliser of a saved state, ``None`` at first.
    """
    state = None
    for offset, value in enumerate(values):
        normaliser = normaliser_of(state)
        found = normaliser.normalise(value, offset, 1)
        state = json.loads(json.dumps(normaliser.state))
        if isinstance(found, Record):
            _assert_well_formed(found)
            assert (found.offset, found.length) == (offset, 1)
        else:
            assert 0 < len(found) < NAME_LIMIT


def _assert_well_formed(record: Record) -> None:
    assert record.uid
    assert record.kind in KINDS
    for block in record.blocks:
        assert isinstance(block.text, str)
        assert block.input is None or isinstance(block.input, dict)


def assert_reads_the_same_again(source: Source, file: SourceFile) -> None:
    """Any record of a file reads the same from the state that was saved after the last of them, in any order."""
    values = [value for chunk in source.container(file).chunks() for value in chunk.values]
    normaliser = source.normaliser(file, None)
    found = [normaliser.normalise(value.value, value.offset, value.length) for value in values]
    again = source.normaliser(file, json.loads(json.dumps(normaliser.state)))
    for value, first in reversed(list(zip(values, found, strict=True))):
        assert again.normalise(value.value, value.offset, value.length) == first
