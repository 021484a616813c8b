"""Cutting data into records and gaps."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fabula.record.vault import manifest
from fabula.record.vault.sealing import GAP_INLINE, stretches


@given(st.integers(0, 3000), st.data())
def test_stretches_cover_the_data_without_a_hole(size: int, data: st.DataObject) -> None:
    skip = data.draw(st.integers(0, size))
    offset = data.draw(st.integers(0, 10**9))
    cuts = sorted(data.draw(st.lists(st.integers(0, size), max_size=20)))
    spans = [(offset + a, b - a) for a, b in zip(cuts[::2], cuts[1::2], strict=False)]
    found = list(stretches(size, skip, offset, spans))
    position = skip
    for kind, begin, end in found:
        assert begin == position
        assert end > begin
        assert kind != manifest.GAP or end - begin <= GAP_INLINE
        assert kind != manifest.FAR_GAP or end - begin > GAP_INLINE
        position = end
    assert position == size
    records = {(offset + b, e - b) for k, b, e in found if k == manifest.RECORD}
    assert records == {(s, n) for s, n in spans if n and s - offset >= skip}


def test_a_span_cut_by_an_earlier_seal_is_a_gap() -> None:
    assert list(stretches(10, 3, 100, [(101, 5), (107, 3)])) == [
        (manifest.GAP, 3, 7),
        (manifest.RECORD, 7, 10),
    ]


def test_of_overlapping_spans_the_first_is_the_record() -> None:
    assert list(stretches(10, 0, 0, [(0, 6), (4, 6)])) == [(manifest.RECORD, 0, 6), (manifest.GAP, 6, 10)]
