"""Rows: taking over what other memories hold."""

from __future__ import annotations

from fabula.app.memory.words import WRITABLE_TYPES
from fabula.cli.command import Argument, Command, Option
from fabula.cli.commands.memory_rows import CORPUS
from fabula.cli.commands.rows import verb_row

DRY_RUN = Option("--dry-run", "say what would be taken over; nothing is changed")
_TAKING = "fabula.app.memory.taking_over"
_TAKEN = "fabula.cli.render.taking_over:render"

COMMANDS: tuple[Command, ...] = (
    verb_row(
        ("import", "fable"),
        "fabula.app.imports",
        "take over a fable installation: titles, cards, facts, citations, sealed generations",
        renderer="fabula.cli.render.imports:render",
        arguments=(
            Argument("source", "its fable.db, or the folder that holds it; ~/.fable", "optional", metavar="DB|DIR"),
        ),
        options=(
            Option(
                "--vault",
                "a folder of its generations; else what its config.json names, else vault beside the database",
                "path",
                repeat=True,
                metavar="DIR",
            ),
            Option("--apply", "do it; without it nothing is changed"),
        ),
        details="Its side is only read. Every row is accounted for; a repetition adds nothing; what is here stays.",
        examples=("fabula import fable", "fabula import fable ~/old/fable.db --apply"),
    ),
    verb_row(
        ("import", "markdown"),
        _TAKING,
        "take over notes: CLAUDE.md, an agent's own memory, a folder of Markdown; one fact a memory",
        renderer=_TAKEN,
        arguments=(Argument("source", "a note, or a folder of notes", metavar="FILE|DIR"),),
        options=(
            Option(
                "--type",
                "the type of all of them; else what a note says, or what it is",
                "choice",
                "",
                choices=WRITABLE_TYPES,
            ),
            Option("--workspace", "the project of all of them; else the repository that they lie in", "text", ""),
            DRY_RUN,
            CORPUS,
        ),
        details="A note with a name or a description in its front matter is one memory. Of others each item of a list "
        "is one, and the paragraphs under each heading. What is known, also in the archive, is not taken again.",
        examples=("fabula import markdown CLAUDE.md --dry-run", "fabula import markdown ~/notes"),
    ),
    verb_row(
        ("import", "claude-mem"),
        _TAKING,
        "take over claude-mem's observations, directives, and what its sessions learned",
        handler=f"{_TAKING}:claude_mem",
        request=f"{_TAKING}:ClaudeMemRequest",
        renderer=_TAKEN,
        arguments=(
            Argument(
                "source", "its claude-mem.db, or the folder that holds it; ~/.claude-mem", "optional", metavar="DB|DIR"
            ),
        ),
        options=(DRY_RUN, CORPUS),
        details="Its database is only read. What is known, also in the archive, is not taken again.",
        examples=("fabula import claude-mem --dry-run",),
    ),
    verb_row(
        ("import", "memhtml"),
        "fabula.app.memory.memhtml",
        "take over another memory: memhtml's, or one of Fabula's with a history of its own",
        renderer=_TAKEN,
        arguments=(Argument("source", "its folder", metavar="DIR"),),
        options=(DRY_RUN, CORPUS),
        details="Files stay as they are and keep their paths where these are free; relations follow. The other corpus "
        "is only read. Clones of one memory are merged by `memory merge`.",
        examples=("fabula import memhtml ~/.memhtml --dry-run",),
    ),
    verb_row(
        ("memory", "export"),
        "fabula.app.memory.export",
        "write the memories into a folder: pages as they are, Markdown notes, or lines of JSON",
        renderer="fabula.cli.render.memory_export:render",
        arguments=(Argument("folder", "a folder that is absent or empty", metavar="DIR"),),
        options=(
            Option(
                "--format",
                "pages, notes, or one file of lines",
                "choice",
                "html",
                choices=("html", "markdown", "jsonl"),
            ),
            Option("--include-archived", "also what is in the archive"),
            CORPUS,
        ),
        details="The same memories give the same bytes. Pages come back with `import memhtml`, notes with `import "
        "markdown`, which loses what only HTML says.",
        examples=("fabula memory export ~/notes --format markdown",),
    ),
)
