"""The verb ``record title``: a person's own title for a session or thread, kept in the vault's journal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import frozen
from fabula.record.reading.identify import identify
from fabula.record.vault.keepsakes import Keepsakes

if TYPE_CHECKING:
    from fabula.app.wiring import App


@frozen
class TitleRequest:
    """``id``: a session or thread. An empty ``text`` takes the title away."""

    id: str
    text: str


@frozen
class TitleResult:
    """What has which title now."""

    kind: str
    id: str
    title: str


def title(app: App, request: TitleRequest) -> TitleResult:
    """Give a title. Raises ``ERR_NOT_FOUND``, ``ERR_AMBIGUOUS``, ``ERR_READ_ONLY``, ``ERR_DISK``."""
    app.refresh()
    target = identify(app.reader(), request.id, "session", "thread")
    words = " ".join(request.text.split())
    keepsakes = Keepsakes.open(app.home.vault, app.clock)
    try:
        keepsakes.entitle(target.kind, target.uid, words)
    finally:
        keepsakes.close()
    if target.kind == "session":
        app.record.retitle(target.uid, words)
    return TitleResult(target.kind, target.uid, words)
