"""What a defect of ours looks like to the person who meets it: one line, and the traceback in a log file."""

from __future__ import annotations

import os
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING

from fabula.kernel.clock import SystemClock, format_time
from fabula.kernel.errors import FabulaError

if TYPE_CHECKING:
    from pathlib import Path


def as_internal_error(error: Exception) -> FabulaError:
    """Turn an unexpected exception into ``ERR_INTERNAL``; the traceback goes to ``$FABULA_HOME/logs/defects.log``.

    What SQLite finds wrong only while rows are read is damage of the map (``ERR_DATABASE``).
    """
    if isinstance(error, MemoryError):
        return FabulaError("ERR_INTERNAL", "not enough memory", "close other programs, then repeat the command")
    text = "".join(traceback.format_exception(error))
    what = f"{type(error).__name__}: {str(error)[:300]}"
    damaged = type(error).__module__ == "apsw"
    log: Path | None = None
    with suppress(OSError, FabulaError):  # a home that cannot be written must not hide the error itself
        log = _log(text)
    if damaged:
        return FabulaError("ERR_DATABASE", f"the map is damaged: {error}", "fabula record rebuild")
    if log is None:
        return FabulaError("ERR_INTERNAL", what, "repeat it with FABULA_DEBUG=1 to see where")
    return FabulaError("ERR_INTERNAL", what, f"please report it, with the end of {log}", "fabula doctor")


def _log(text: str) -> Path:
    from fabula.app.wiring import build_app
    from fabula.storage.files import PRIVATE_FILE, ensure_folder

    app = build_app()
    if app.environment.get("FABULA_DEBUG") == "1":
        os.write(2, text.encode("utf-8", "replace"))
    folder = app.home.root / "logs"
    ensure_folder(folder)
    log = folder / "defects.log"
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE_FILE)
    try:
        os.write(handle, f"{format_time(SystemClock().now_ms())}\n{text}\n".encode("utf-8", "replace"))
    finally:
        os.close(handle)
    return log
