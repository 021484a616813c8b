"""The installed ``fabula`` command, with a record of its own over one client's home."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Product:
    """Runs ``fabula`` in the client's project."""

    program: str
    record: Path
    home: Path
    project: Path
    more: Mapping[str, str] = field(default_factory=dict)  # of the environment

    def data(self, *words: str) -> Any:
        """Run a command with ``--json`` and return its envelope's data. Raises ``AssertionError`` on any failure."""
        return json.loads(self.output(*words, "--json"))["data"]

    def output(self, *words: str) -> bytes:
        """Run a command and return its standard output, exactly."""
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "FABULA_HOME": str(self.record), **self.more}
        done = subprocess.run(
            [self.program, *words], cwd=self.project, env=environment, capture_output=True, check=False, timeout=120
        )
        said = done.stdout.decode(errors="replace")[-1500:] + done.stderr.decode(errors="replace")[-1500:]
        assert done.returncode == 0, f"fabula {' '.join(words)}: exit {done.returncode}\n{said}"
        return done.stdout
