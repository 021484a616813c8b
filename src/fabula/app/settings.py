"""Use case: list the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from fabula.app.wiring import App


@frozen
class SettingsRequest:
    """``key`` is the one setting to show, or ``""``."""

    key: str = ""


@frozen
class SettingRow:
    """One setting as it stands."""

    key: str
    value: Any
    default: Any
    origin: str
    detail: str
    meaning: str
    environment: str


@frozen
class SettingsResult:
    """Every setting asked for; ``exists`` says whether there is a file."""

    file: str
    exists: bool
    settings: list[SettingRow]


def settings(app: App, request: SettingsRequest) -> SettingsResult:
    """Return the settings, their values and where each came from. Raises ``ERR_CONFIG``, ``ERR_USAGE``."""
    known = app.config.settings
    if request.key and request.key not in known:
        from difflib import get_close_matches

        near = get_close_matches(request.key, list(known), n=1, cutoff=0.4)
        raise FabulaError(
            "ERR_USAGE", f"no setting is called {request.key}", f"fabula config {' '.join(near)}".rstrip()
        )
    rows = [
        SettingRow(s.key.name, s.value, s.key.default, s.origin, s.detail, s.key.meaning, s.key.environment)
        for s in known.values()
        if request.key in {"", s.key.name}
    ]
    return SettingsResult(str(app.config.file), app.config.file.exists(), rows)
