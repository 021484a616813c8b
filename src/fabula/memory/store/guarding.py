"""Secrets are seen before a commit: a commit is for ever, and goes wherever the repository goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabula.memory.store.ports import Guard

SHOWN = 5  # findings that a message names


class Secrets:
    """The guard over the rules of ``redaction``."""

    def secrets(self, text: str) -> list[str]:
        """Return the rules that found something, each once; nobody has seen the page that its lines would be of."""
        from fabula.redaction.redact import find

        return list(dict.fromkeys(found.rule for found in find(text)))

    def placed(self, text: str) -> list[str]:
        """Return what was found in a file that its reader can open, each as ``RULE in line N``."""
        from fabula.redaction.redact import find

        return [f"{found.rule} in line {text.count(chr(10), 0, found.start) + 1}" for found in find(text)]


def refuse_secrets(guard: Guard, texts: Iterable[str]) -> None:
    """Raise ``ERR_SECRET`` where a text holds what looks like a secret."""
    found = list(dict.fromkeys(what for text in texts if text for what in guard.secrets(text)))
    if found:
        more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        message = f"This looks like a secret: {', '.join(found[:SHOWN])}{more}; nothing was written."
        raise FabulaError("ERR_SECRET", message, "say where the secret is kept, not the secret itself")
