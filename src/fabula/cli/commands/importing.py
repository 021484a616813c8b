"""Rows: taking over what other memories hold."""

from __future__ import annotations

from fabula.cli.command import Argument, Command, Option
from fabula.cli.commands.rows import verb_row

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
)
