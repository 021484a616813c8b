"""The verbs ``record pin`` and ``record unpin``: sessions and threads kept at hand, in the vault's journal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import frozen
from fabula.record.reading.identify import identify
from fabula.record.vault.keepsakes import Keepsakes

if TYPE_CHECKING:
    from fabula.app.wiring import App


@frozen
class PinRequest:
    """``id``: a session or thread."""

    id: str


@frozen
class PinResult:
    """Whether something is pinned now, and whether that is new."""

    kind: str
    id: str
    pinned: bool
    changed: bool


def pin(app: App, request: PinRequest) -> PinResult:
    """Pin a session or thread. Raises ``ERR_NOT_FOUND``, ``ERR_AMBIGUOUS``, ``ERR_READ_ONLY``, ``ERR_DISK``."""
    return _set(app, request.id, pinned=True)


def unpin(app: App, request: PinRequest) -> PinResult:
    """Take a pin away. Raises as :func:`pin`."""
    return _set(app, request.id, pinned=False)


def _set(app: App, text: str, *, pinned: bool) -> PinResult:
    app.refresh()
    target = identify(app.reader(), text, "session", "thread")
    keepsakes = Keepsakes.open(app.home.vault, app.clock)
    try:
        change = keepsakes.pin if pinned else keepsakes.unpin
        return PinResult(target.kind, target.uid, pinned, change(target.kind, target.uid))
    finally:
        keepsakes.close()
