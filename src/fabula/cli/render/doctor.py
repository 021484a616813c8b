"""What the doctor found, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.record_lines import counted

if TYPE_CHECKING:
    from fabula.app.doctor import DoctorResult
    from fabula.cli.output import Out

_SIGNS = {"good": "ok ", "warning": "!  ", "bad": "BAD"}


def render(result: DoctorResult, out: Out) -> None:
    """Write one line per check, and the remedy below each that is not good."""
    for done in result.fixed:
        out.line(f"{out.bold('fixed')} {done}")
    for check in result.checks:
        sign = _SIGNS[check.state]
        out.line(f"{sign if check.state == 'good' else out.bold(sign)} {check.name:<13} {check.message}")
        for remedy in check.remedies:
            out.line(f"    try: {remedy}")
    bad = sum(check.state == "bad" for check in result.checks)
    out.line(
        out.bold(f"{counted(bad, 'thing')} {'needs' if bad == 1 else 'need'} attention" if bad else "everything works")
    )
