"""Rows: the vault's long life."""

from __future__ import annotations

from fabula.cli.command import Argument, Command, Option
from fabula.cli.commands.rows import verb_row

COMMANDS: tuple[Command, ...] = (
    verb_row(
        ("vault", "copy"),
        "fabula.app.vault.copy",
        "copy the vault into a folder: a backup, or the beginning of a second machine",
        renderer="fabula.cli.render.vault_copy:render",
        arguments=(Argument("folder", "an empty folder, or an earlier copy, to which what is new is added"),),
        details=(
            "What was forgotten in the vault since the last copy is erased from the copy as well. FABULA_HOME=FOLDER "
            "fabula record verify checks the copy, record restore gives files back from it. Without its file "
            "fabula-copy.json it is a home of its own, and no longer a copy."
        ),
    ),
    verb_row(
        ("vault", "gc"),
        "fabula.app.vault.gc",
        "remove what the vault holds for nobody; every record that a file is made of stays",
        renderer="fabula.cli.render.vault_gc:render",
        options=(Option("--apply", "do it; without it nothing is changed"),),
        details="Afterwards every byte that is left is verified. What would be lost for good asks for your consent.",
    ),
)
