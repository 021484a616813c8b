"""The result of copying a vault as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.record_lines import counted

if TYPE_CHECKING:
    from fabula.app.vault.copy import CopyResult
    from fabula.cli.output import Out


def render(result: CopyResult, out: Out) -> None:
    """Write what was copied, what was erased there, and how the copy is checked and put back."""
    done = result.copied
    if done.bytes_copied:
        out.line(
            f"copied {done.bytes_copied / 1e6:,.1f} MB of {counted(done.packs_touched, 'pack')} to {done.folder}, "
            f"{counted(done.records_checked, 'record')} read back and right"
        )
    else:
        out.line(f"{done.folder} held every record already; what else the journal says is up to date there")
    out.line(f"the copy holds {counted(done.generations, 'generation')} of files in {counted(done.packs, 'pack')}")
    if not done.first and (done.packs_removed or done.erasures):
        marks = f", {counted(done.erasures, 'new mark')} of what was forgotten" if done.erasures else ""
        out.line(f"erased there as well: {counted(done.packs_removed, 'pack')} that the vault has no more{marks}")
    out.line(out.dim(f"to check all of it:             {result.use[0]}"))
    out.line(out.dim(f"to make it a home of its own:   {result.use[1]}"))
