"""The verb ``version``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import frozen
from fabula.kernel.version import VERSION

if TYPE_CHECKING:
    from fabula.app.wiring import App


@frozen
class VersionRequest:
    """Nothing to ask."""


@frozen
class VersionResult:
    """Fabula's version, and what it runs on."""

    fabula: str
    python: str
    sqlite: str
    apsw: str


def show_version(app: App, request: VersionRequest) -> VersionResult:  # noqa: ARG001 - every handler is called alike
    """Return the versions that matter in a report of a defect."""
    import platform

    import apsw

    return VersionResult(VERSION, platform.python_version(), apsw.sqlite_lib_version(), apsw.apsw_version())
