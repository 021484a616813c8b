"""Rows: the vault's long life, and its encryption."""

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
    verb_row(
        ("vault", "encrypt"),
        "fabula.app.vault.encrypt",
        "encrypt the record on disk: vault and map; copies made from then on are encrypted as well",
        renderer="fabula.cli.render.vault_encryption:render_encrypt",
        options=(
            Option("--apply", "do it; without it nothing is changed"),
            Option("--key-file", "the file in which the key lies or will lie, outside of FABULA_HOME", "path"),
            Option("--passphrase", "keep the key in the vault, under a passphrase that is typed at a terminal"),
        ),
        details=(
            "Needs pip install 'fabula[encryption]'. With record.key_command in the settings a program gives the key, "
            "or the passphrase, each time; a passphrase alone lets nobody but a person at a terminal use the record, "
            "and agents have none. Every record is compared with its digest before and after. Asks for your consent: "
            "who loses the key loses the record. docs/limits.md says what stays readable."
        ),
    ),
    verb_row(
        ("vault", "decrypt"),
        "fabula.app.vault.decrypt",
        "write an encrypted record anew so that it needs no key",
        renderer="fabula.cli.render.vault_encryption:render_decrypt",
        options=(Option("--apply", "do it; without it nothing is changed"),),
    ),
    verb_row(
        ("vault", "key"),
        "fabula.app.vault.key",
        "say how the key of an encrypted record is kept; show it to a person, or set another passphrase",
        renderer="fabula.cli.render.vault_encryption:render_key",
        options=(
            Option("--show", "write the key to your terminal, and nowhere else; asks for your consent"),
            Option("--passphrase", "keep the key under a new passphrase"),
        ),
    ),
)
