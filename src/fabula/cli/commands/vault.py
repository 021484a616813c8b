"""Rows: the vault's long life."""

from __future__ import annotations

from fabula.cli.command import Argument, Command
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
)
