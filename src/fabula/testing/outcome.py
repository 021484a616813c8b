"""What one call of the command line gave, as tests look at it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Outcome:
    """Exit status, standard output and standard error of one call."""

    status: int
    out: str
    err: str

    @property
    def envelope(self) -> dict[str, Any]:
        """The one envelope on standard output."""
        assert self.out.count("\n") == 1, self.out + self.err
        found: dict[str, Any] = json.loads(self.out)
        assert found["apiVersion"] == "1"
        return found

    @property
    def data(self) -> Any:
        """The data of a successful call."""
        assert "data" in self.envelope, self.out
        return self.envelope["data"]
