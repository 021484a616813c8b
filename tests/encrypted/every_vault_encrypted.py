"""A plugin for pytest: every vault and map that a test makes in its process is encrypted, under one key.

    PYTHONPATH=tests/encrypted pytest -p every_vault_encrypted tests/app/test_prune_verb.py

Tests that look into databases or packs with their own hands, or start further processes, do not pass with it.
"""

from __future__ import annotations

import pytest

from fabula.storage import keyring
from fabula.storage.cipher import Cipher


@pytest.fixture(autouse=True)
def _every_vault_is_encrypted(monkeypatch: pytest.MonkeyPatch) -> None:
    cipher = Cipher(bytes(range(32)))
    keyring.remember(cipher)
    monkeypatch.setattr(keyring, "read_key_file", lambda vault: {"format": 1, "key": cipher.key_id.hex()})
    monkeypatch.setattr(keyring, "encrypted_vault_of", lambda path: path.parent)
