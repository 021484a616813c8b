"""How a generation is described."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.record.vault import manifest
from fabula.record.vault.manifest import Layout, Segment
from fabula.storage.packs_codec import Compressor

PIECES = st.lists(
    st.one_of(
        st.tuples(st.just(manifest.RECORD), st.integers(1, 10**6)),
        st.tuples(st.just(manifest.FAR_GAP), st.integers(1, 10**6)),
        st.tuples(st.just(manifest.HOLE), st.integers(1, 10**6)),
        st.tuples(st.just(manifest.GAP), st.integers(1, 40)),
    ),
    min_size=1,
    max_size=300,
)


def layout_of(pieces: list[tuple[int, int]]) -> tuple[Layout, list[bytes]]:
    layout, values = Layout(), []
    for number, (kind, length) in enumerate(pieces):
        layout.kinds.append(kind)
        layout.lengths.append(length)
        value = b""
        if kind == manifest.GAP:
            value = (b"%d" % number * 40)[:length]
            layout.gaps.append(value)
        elif kind in manifest.IN_PACK:
            value = sha256(b"%d" % number).digest()
            layout.digests.append(value)
        values.append(value)
    return layout, values


@given(PIECES, st.integers(0, 10**12))
def test_a_segment_gives_back_its_pieces(pieces: list[tuple[int, int]], offset: int) -> None:
    layout, values = layout_of(pieces)
    segment = Segment(offset, sum(length for _, length in pieces), *layout.encode(Compressor()))
    found = list(segment.pieces())
    assert [(p.kind, p.length, p.value) for p in found] == [
        (kind, length, value) for (kind, length), value in zip(pieces, values, strict=True)
    ]
    ends = [p.offset + p.length for p in found]
    assert [p.offset for p in found] == [offset, *ends[:-1]]


@given(PIECES, st.data())
def test_a_range_gives_exactly_the_pieces_it_touches(pieces: list[tuple[int, int]], data: st.DataObject) -> None:
    layout, _ = layout_of(pieces)
    size = sum(length for _, length in pieces)
    start = data.draw(st.integers(0, size - 1))
    stop = data.draw(st.integers(start + 1, size))
    segment = Segment(0, size, *layout.encode(Compressor()))
    touched = [p.offset for p in segment.pieces() if p.offset < stop and p.offset + p.length > start]
    assert [p.offset for p in segment.pieces(start, stop)] == touched


def test_a_manifest_that_does_not_add_up_is_refused() -> None:
    layout, _ = layout_of([(manifest.RECORD, 10), (manifest.GAP, 1), (manifest.RECORD, 5)])
    columns, digests = layout.encode(Compressor())
    for length, plain, names in (
        (17, columns, digests),
        (16, columns, digests[:-1]),
        (16, columns, digests + bytes(32)),
        (16, columns[:-1], digests),
        (16, b"\0\xff\xff", digests),
        (16, b"\1" + (20).to_bytes(8, "little") + b"no zstd", digests),
    ):
        with pytest.raises(ValueError, match=r"manifest|frame|zstd"):
            Segment(0, length, plain, names)
