"""The JSON envelope: exactly one on standard output of every ``--json`` call.

Success: ``{"apiVersion":"1","type":T,"data":{...}}``.
Failure: ``{"apiVersion":"1","error":...,"code":"ERR_...","suggestions":[...]}``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fabula.kernel.errors import FabulaError

API_VERSION = "1"


def success(kind: str, data: Any) -> dict[str, Any]:
    """Wrap a result; ``kind`` is one of the types that ``fabula manifest`` lists."""
    return {"apiVersion": API_VERSION, "type": kind, "data": data}


def failure(error: FabulaError) -> dict[str, Any]:
    """Wrap an error."""
    return {
        "apiVersion": API_VERSION,
        "error": error.message,
        "code": error.code,
        "suggestions": list(error.suggestions),
    }
