"""What encrypting, decrypting and the key's verb did, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.app.vault.decrypt import DecryptResult
    from fabula.app.vault.encrypt import EncryptResult
    from fabula.app.vault.key import KeyResult
    from fabula.cli.output import Out


def render_encrypt(result: EncryptResult, out: Out) -> None:
    """Write what is to be encrypted, or was, and how the key is kept."""
    if result.already:
        out.line(f"the record is encrypted: {result.kept}")
    elif not result.applied:
        out.line(f"to be encrypted: {result.packs:,} packs, {result.bytes / 1e6:,.1f} MB, and all databases")
        out.line(out.dim("nothing was changed; --apply with --key-file FILE or --passphrase does it"))
    else:
        _converted("encrypted", result, out)
        out.line(f"{result.kept}; without it the record is lost: keep a copy of it elsewhere (fabula vault key --show)")


def render_decrypt(result: DecryptResult, out: Out) -> None:
    """Write what is to be decrypted, or was."""
    if not result.encrypted:
        out.line("the record is not encrypted")
    elif not result.applied:
        out.line(f"to be decrypted: {result.packs:,} packs, {result.bytes / 1e6:,.1f} MB, and all databases")
        out.line(out.dim("nothing was changed; --apply does it"))
    else:
        _converted("decrypted", result, out)


def render_key(result: KeyResult, out: Out) -> None:
    """Write how the key is kept; never the key."""
    if not result.encrypted:
        out.line("the record is not encrypted")
        return
    out.line(f"key {result.key}: {result.kept}")
    if result.done:
        out.line(result.done)


def _converted(how: str, result: EncryptResult | DecryptResult, out: Out) -> None:
    sound = "NOT sound" if result.problems else "verified, sound"
    out.line(f"{how}: {result.packs:,} packs with {result.records:,} records, each compared with its digest; {sound}")
    for problem in result.problems:
        out.line(problem)
