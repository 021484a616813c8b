"""What is forgotten, or would be, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.record.forget_lines import preview_lines
from fabula.cli.render.record_lines import counted

if TYPE_CHECKING:
    from fabula.app.record.forget import ForgetResult
    from fabula.cli.output import Out


def render(result: ForgetResult, out: Out) -> None:
    """Write the preview; after the deed, one line on what was done (the preview was shown before)."""
    if result.erased is None:
        for line in preview_lines(result):
            out.line(line)
        out.line(out.dim("nothing was changed; with --apply you are asked for your consent"))
        return
    freed = result.erased.freed
    size = f"{abs(freed):,} bytes {'less' if freed >= 0 else 'more'}"
    others = f" and {counted(result.others, 'other piece')}" if result.others else ""
    out.line(
        f"{out.bold('forgotten')}: {counted(result.records, 'record')}{others}, {result.bytes:,} bytes; "
        f"{counted(result.erased.packs, 'pack')} written anew ({size}), the map made anew"
    )
    for one in result.cut:
        stays = f"; {one.staying} that the session cannot do without stay there" if one.staying else ""
        out.line(f"{one.path}: {one.cut} lines cut{stays}")
    for problem in result.erased.unreadable:
        out.line(out.dim(f"damaged before, and left out: {problem}"))
