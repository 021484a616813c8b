"""New identifiers, all drawn from one seed: the same seed and the same names give the same ids."""

from __future__ import annotations

from hashlib import sha256

SEED_BYTES = 16


class FreshIds:
    """Identifiers that no other seed gives. ``what`` names the thing; asking twice for one thing gives one id."""

    def __init__(self, seed: bytes) -> None:
        self._seed = seed

    def uuid(self, *what: str | int) -> str:
        """Return a random-looking UUID of version 4 (RFC 9562)."""
        digits = self._digits(what)
        variant = "89ab"[int(digits[16], 16) % 4]
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"

    def word(self, length: int, *what: str | int) -> str:
        """Return ``length`` hexadecimal digits, at most 64."""
        return self._digits(what)[:length]

    def _digits(self, what: tuple[str | int, ...]) -> str:
        state = sha256(self._seed)
        for part in what:
            raw = str(part).encode("utf-8", "surrogatepass")
            state.update(len(raw).to_bytes(8, "big"))
            state.update(raw)
        return state.hexdigest()
