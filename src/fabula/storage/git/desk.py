"""The folder of ours in a work tree's git folder: files on their way, the new index, the journal.

Nothing in it is needed once no commit is in the making: the next process completes or clears what a stopped one left.
"""

from __future__ import annotations

import os
from contextlib import suppress
from shutil import rmtree
from typing import TYPE_CHECKING

from fabula.storage.files import disk_errors, ensure_folder
from fabula.storage.git.journal import Plan, plan_bytes, read_plan

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.storage.git.durable import NewFiles


class Desk:
    """Paths in our folder, and clearing them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.staging = folder / "staging"
        self.new_index = folder / "index.new"
        self.scratch_index = folder / "index.scratch"
        self._journal = folder / "journal"
        self._torn = folder / "journal.new"

    def is_clear(self) -> bool:
        """Say whether no commit was left in the making."""
        things = (self._journal, self._torn, self.staging, self.new_index, self.scratch_index)
        return not any(os.path.lexists(thing) for thing in things)

    def plan(self) -> Plan | None:
        """Return the commit that is in the making, if its journal is whole."""
        return read_plan(self._journal)

    def stage(self, files: NewFiles, name: str, data: bytes, mode: int) -> None:
        """Write a file that will be placed in the work tree."""
        if not self.staging.is_dir():
            ensure_folder(self.staging)
        files.add(self.staging / name, data, mode)

    def write_plan(self, files: NewFiles, plan: Plan) -> None:
        """Write the journal; it counts from :meth:`begin` on."""
        files.add(self._torn, plan_bytes(plan))

    def begin(self) -> None:
        """Let the journal count."""
        with disk_errors(self._journal):
            os.replace(self._torn, self._journal)

    def clear(self) -> None:
        """Forget the commit in the making: the journal first, so that nothing is missing from what it names."""
        with disk_errors(self.folder):
            self._journal.unlink(missing_ok=True)
        for path in (self._torn, self.new_index, self.scratch_index):
            with suppress(OSError):
                path.unlink(missing_ok=True)
        if self.staging.exists():
            rmtree(self.staging, ignore_errors=True)
