"""The manifest as text: what a person wants to see of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.cli.output import Out
    from fabula.cli.verbs.manifest import ManifestResult


def render(result: ManifestResult, out: Out) -> None:
    """Write the usage lines, the codes and the formats."""
    shapes = ", ".join(f"{name} {number}" for name, number in result.formats.items())
    out.line(f"{out.bold(f'fabula {result.version}')} (envelope {result.api_version}; formats: {shapes})")
    out.line()
    for command in result.commands:
        out.line(command["usage"])
    out.line()
    for code, row in result.codes.items():
        out.line(f"{code:<24} exit {row['exit']:<4} {row['meaning']}")
    out.line()
    out.line(out.dim("fabula manifest --json gives all of it as data"))
