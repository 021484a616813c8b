"""The installed command as a user runs it, in a home of its own."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAM = Path(sysconfig.get_path("scripts")) / "fabula"
SAMPLES = Path(__file__).resolve().parents[1] / "data" / "samples" / "home"


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """What the envelope holds."""
        return json.loads(self.out)["data"]

    @property
    def code(self) -> str:
        """The error's code in the envelope, or ""."""
        return str(json.loads(self.out).get("code", ""))


def obey_permissions() -> None:
    """Give up root's right to pass over permissions, for programs that this process becomes (Linux)."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


@dataclass(frozen=True, slots=True)
class User:
    """A user's home with the bundled transcripts, and a record in it."""

    home: Path

    @classmethod
    def with_samples(cls, folder: Path) -> User:
        """Copy the samples below ``folder``."""
        shutil.copytree(SAMPLES, folder / "user")
        return cls(folder / "user")

    @property
    def record(self) -> Path:
        """The folder of the record."""
        return self.home / ".fabula"

    def environment(self, **more: str) -> dict[str, str]:
        """Return the environment of a command: this home and nothing of the real one."""
        kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LANG") if name in os.environ}
        return {**kept, "HOME": str(self.home), **more}

    @staticmethod
    def program() -> str:
        """Return the installed command."""
        return str(PROGRAM)

    def run(self, *words: str, cwd: Path | None = None, bound: bool = False, **environment: str) -> Done:
        """Run ``fabula WORDS --json``; ``bound`` by permissions even where the tests are run by root."""
        done = subprocess.run(
            [self.program(), *words, "--json"], capture_output=True, check=False, timeout=120, cwd=cwd or self.home,
            env=self.environment(**environment), preexec_fn=obey_permissions if bound else None,
        )  # fmt: skip
        out, err = done.stdout.decode(), done.stderr.decode()
        assert "Traceback" not in err, err
        return Done(done.returncode, out, err)
