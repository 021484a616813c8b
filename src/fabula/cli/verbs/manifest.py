"""The verb ``manifest``: the whole surface as data, for programs that call Fabula."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.app.formats import formats
from fabula.cli.command import GLOBAL_FLAGS
from fabula.cli.table import COMMANDS
from fabula.kernel.envelope import API_VERSION
from fabula.kernel.errors import CODES, Exit
from fabula.kernel.values import frozen
from fabula.kernel.version import VERSION

if TYPE_CHECKING:
    from fabula.app.wiring import App
    from fabula.cli.command import Command


@frozen
class ManifestRequest:
    """Nothing to ask."""


@frozen
class ManifestResult:
    """Commands, flags, envelope types, codes, exit statuses and the formats on disk. Everything is append-only."""

    version: str
    api_version: str
    formats: dict[str, int]
    commands: list[dict[str, Any]]
    global_flags: dict[str, str]
    types: list[str]
    codes: dict[str, dict[str, Any]]
    exits: dict[str, int]
    settings: list[dict[str, Any]]


def manifest(app: App, request: ManifestRequest) -> ManifestResult:  # noqa: ARG001 - every handler is called alike
    """Return what this version offers."""
    from fabula.app.config import KEYS

    return ManifestResult(
        version=VERSION,
        api_version=API_VERSION,
        formats=formats(),
        commands=[describe(command) for command in COMMANDS],
        global_flags=GLOBAL_FLAGS,
        types=sorted({command.result for command in COMMANDS}),
        codes={code: {"meaning": meaning, "exit": int(status)} for code, (meaning, status) in CODES.items()},
        exits={status.name.lower(): int(status) for status in Exit},
        settings=[
            {"key": k.name, "kind": k.kind, "default": k.default, "environment": k.environment, "meaning": k.meaning}
            for k in KEYS
        ],
    )


def describe(command: Command) -> dict[str, Any]:
    """Return one row of the table as plain data."""
    return {
        "path": list(command.path),
        "summary": command.summary,
        "usage": command.usage,
        "type": command.result,
        "query": command.query,
        "arguments": [{"name": a.field, "many": a.many, "help": a.help} for a in command.arguments],
        "options": [
            {
                "name": o.name,
                "kind": o.kind,
                "default": o.unset,
                "choices": list(o.choices),
                "repeat": o.repeat,
                "values": o.values if o.kind != "flag" else 0,
                "help": o.help,
            }
            for o in command.options
            if not o.hidden
        ],
        "examples": list(command.examples),
    }
