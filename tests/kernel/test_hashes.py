"""Digests are SHA-256, whichever implementation makes them."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from fabula.kernel import hashes


@given(st.lists(st.binary(max_size=300), max_size=8), st.booleans())
def test_every_digest_is_the_standard_one_before_and_after_the_change_of_hands(data: list[bytes], late: bool) -> None:
    hasher = hashes._Hasher()
    if late:
        hasher.hashed = hashes.LOADED_FROM - 500
    for one in data:
        assert hasher.sha256(one).digest() == hashlib.sha256(one).digest()
        assert hasher.sha256(memoryview(one)).digest() == hashlib.sha256(one).digest()


def test_where_python_brings_no_implementation_openssl_hashes(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(hashes, "_light", lambda: None)
    assert hashes._Hasher().sha256(b"abc").hexdigest() == hashlib.sha256(b"abc").hexdigest()


def test_a_few_records_are_hashed_without_openssl_and_many_with_it() -> None:
    code = """
import sys
from fabula.kernel.hashes import digest
few = digest(b"x" * 5000)
assert "_hashlib" not in sys.modules, "it takes longer to load than to hash"
many = digest(b"x" * 2_000_000)
assert "_hashlib" in sys.modules, "many bytes are worth it"
assert digest(b"x" * 5000) == few
"""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}  # it hashes
    subprocess.run([sys.executable, "-I", "-c", code], check=True, env=environment)
