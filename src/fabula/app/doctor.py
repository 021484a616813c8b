"""Use case: check that everything works, and name the remedy of whatever does not.

Every remedy is able to clear its own condition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fabula.kernel.errors import Exit
from fabula.kernel.values import field, frozen

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.wiring import App

State = Literal["good", "warning", "bad"]


@frozen
class DoctorRequest:
    """``fix``: make the repairs that lose nothing; ``corpus``: a memory other than the configured one."""

    fix: bool = False
    corpus: Path | None = None


@frozen
class Check:
    """One thing looked at. ``remedies`` are commands, or plain advice where no command can do it."""

    name: str
    state: State
    message: str
    remedies: list[str] = field(default_factory=list)


@frozen
class DoctorResult:
    """Every check, in the order in which they should be put right. ``fixed``: what was repaired before."""

    checks: list[Check]
    fixed: list[str] = field(default_factory=list)

    @property
    def exit_status(self) -> int:
        """1 when something is bad; warnings pass."""
        return int(Exit.COULD_NOT if any(check.state == "bad" for check in self.checks) else Exit.DONE)


def doctor(app: App, request: DoctorRequest) -> DoctorResult:
    """Look at everything that can go wrong outside the code; with ``fix`` repair first what can be without a loss.

    Raises what commits to the memory raise, with ``fix`` alone.
    """
    from fabula.app import checks

    config = checks.config(app)
    found = [config, checks.home(app), checks.disk(app)]
    if app.home.copy_marker.exists():  # nothing is scanned into it, so nothing has to be
        return DoctorResult([*found, checks.copy(app), checks.vault(app)])
    if config.state == "good":
        found += [checks.switch(app), checks.sources(app), checks.folders(app)]
    found += [checks.vault(app), checks.erasing(app), checks.map_of_the_record(app)]
    if config.state == "good":
        found += [checks.size(app), checks.retention(app), checks.keeping(app)]
    fixed: list[str] = []
    if config.state == "good":
        from fabula.app.memory.checks import fix_memory, memory_checks

        access = app.memory_at(request.corpus)
        fixed = fix_memory(access) if request.fix else []
        found += memory_checks(access)
    return DoctorResult(found, fixed)
