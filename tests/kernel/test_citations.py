"""What is written down of a citation names its record and the digest of its bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.kernel.citations import Citation, read_digest, read_reference
from fabula.kernel.hashes import digest_text


@given(st.text(min_size=1).map(str.strip).filter(bool), st.binary(min_size=32, max_size=32))
def test_a_reference_is_read_back(record: str, raw: bytes) -> None:
    citation = Citation(record, digest_text(raw))
    assert read_reference(citation.reference) == (record, citation.digest)
    assert read_digest(citation.digest) == raw


@pytest.mark.parametrize(
    "text",
    ["", "u", "sha256:" + "0" * 64, "u sha256:00", "u " + "0" * 64, "u sha256:" + "G" * 64, "u sha256:" + "A" * 64],
)
def test_anything_else_is_none(text: str) -> None:
    assert read_reference(text) is None
