"""Citations: where planes meet. A memory, a proof or a person names a record and quotes it.

A citation rests on the bytes of the record, not on any file: whoever has those bytes can check it with ``sha256sum``.
"""

from __future__ import annotations

from fabula.kernel.hashes import PREFIX
from fabula.kernel.values import frozen

_DIGITS = 64


@frozen
class Citation:
    """A record and what is quoted of it.

    ``record`` is the record's id, ``digest`` the digest of its bytes as they were sealed (``sha256:<hex>``). ``quote``
    stands verbatim in the record's text, at the characters from ``start`` to ``end``; without a quote the record as a
    whole is cited, and both are 0. ``time`` in ms since the epoch, ``None`` where the host gave none.
    """

    record: str
    digest: str
    quote: str = ""
    start: int = 0
    end: int = 0
    host: str = ""
    session: str = ""
    time: int | None = None

    @property
    def reference(self) -> str:
        """``RECORD sha256:<hex>``: what is written down of a citation beside its quote."""
        return f"{self.record} {self.digest}"


def read_reference(text: str) -> tuple[str, str] | None:
    """Return record and digest of what :attr:`Citation.reference` wrote; ``None`` for anything else."""
    record, blank, digest = text.strip().rpartition(" ")
    return (record.strip(), digest) if blank and record.strip() and read_digest(digest) is not None else None


def read_digest(text: str) -> bytes | None:
    """Return the 32 bytes that ``sha256:<hex>`` names; ``None`` for anything else."""
    digits = text.removeprefix(PREFIX)
    if len(digits) != _DIGITS or text == digits:
        return None
    try:
        raw = bytes.fromhex(digits)
    except ValueError:
        return None
    return raw if raw.hex() == digits else None
