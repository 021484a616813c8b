"""Use case: how the key of the record is kept: shown to a person, or wrapped under another passphrase."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.consent import require_consent, show
from fabula.app.vault.conversion import settled
from fabula.app.vault.encrypt import kept_in_words, new_passphrase
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from fabula.app.wiring import App

_AGAIN = "fabula vault key"


@frozen
class KeyRequest:
    """``show`` writes the key to the terminal; ``passphrase`` wraps it under a new one; else: how is it kept?"""

    show: bool = False
    passphrase: bool = False


@frozen
class KeyResult:
    """``key`` is the key's id, which is no secret."""

    encrypted: bool
    key: str = ""
    kept: str = ""
    done: str = ""


def key(app: App, request: KeyRequest) -> KeyResult:
    """Do it. The key is written to the terminal of a person who agrees, and nowhere else.

    Raises ``ERR_KEY``, ``ERR_CONSENT``, ``ERR_EXTRA_MISSING``, ``ERR_DISK``, ``ERR_READ_ONLY``.
    """
    from fabula.storage.keyring import cipher_of

    said = settled(app)
    if said is None:
        return KeyResult(encrypted=False)
    done = ""
    if request.show or request.passphrase:
        from fabula.record.vault import keys

        secret = cipher_of(app.home.vault).key
        if request.show:
            require_consent(["The key of your record is to be shown here. Who has it can read it all."], "show", _AGAIN)
            show([keys.as_text(secret)], _AGAIN)
            done = "the key was shown on the terminal"
        else:
            wrapped = keys.wrap(secret, new_passphrase(), app.entropy(keys.SALT_BYTES))
            said = said | keys.described(secret, wrapped=wrapped)
            keys.write_key_file(app.home.vault, said)
            done = "the passphrase was set; copies of the vault have the one before until they are brought up to date"
    return KeyResult(encrypted=True, key=said["key"], kept=kept_in_words(said), done=done)
