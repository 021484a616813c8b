"""Write docs/reference from the tables: ``python -m fabula.cli.reference docs/reference`` (``make docs``).

A test compares the pages with the tables, so they never drift.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.app.config import KEYS
from fabula.cli.command import GLOBAL_FLAGS
from fabula.cli.table import COMMANDS
from fabula.cli.verbs.help import default_note
from fabula.kernel.errors import CODES, Exit

if TYPE_CHECKING:
    from fabula.app.config import Key
    from fabula.cli.command import Command

_NOTE = "<!-- Generated from the tables in the source by `make docs`: do not edit. -->\n"


def pages() -> dict[str, str]:
    """Return every generated page: file name -> Markdown."""
    return {"commands.md": _commands(), "codes.md": _codes(), "config.md": _config()}


def _commands() -> str:
    parts = [_NOTE, "# Commands\n", "Every command takes:\n"]
    parts += [f"- `{name}`: {meaning}" for name, meaning in GLOBAL_FLAGS.items()]
    parts.append("\nAfter `--` every word is taken as it is. Nothing is abbreviated.\n")
    parts += [_command(command) for command in COMMANDS]
    return "\n".join(parts)


def _command(command: Command) -> str:
    lines = [f"## fabula {command.name}\n", f"{command.summary[:1].upper()}{command.summary[1:]}.\n"]
    lines += [f"```\n{command.usage}\n```\n"]
    if command.details:
        lines.append(f"{command.details}\n")
    lines += [f"- `{a.usage}`: {a.help}" for a in command.arguments]
    lines += [f"- `{o.usage}`: {o.help}{default_note(o.default)}" for o in command.options if not o.hidden]
    lines.append(f"- envelope: `{command.result}`\n")
    if command.examples:
        lines.append("```sh\n" + "\n".join(command.examples) + "\n```\n")
    return "\n".join(lines)


def _codes() -> str:
    lines = [
        _NOTE,
        "# Codes and exit statuses\n",
        "Codes are append-only.\n",
        "| code | exit | meaning |",
        "|---|---|---|",
    ]
    lines += [f"| `{code}` | {int(status)} | {meaning} |" for code, (meaning, status) in CODES.items()]
    meanings = {
        Exit.DONE: "done",
        Exit.COULD_NOT: "could not: the call was right, the world was not",
        Exit.WRONG_CALL: "wrong call: the command line, a path or the configuration",
        Exit.GATE_SAID_NO: "a gate said no",
        Exit.INTERRUPTED: "interrupted",
    }
    lines += ["", "| exit | meaning |", "|---|---|", *(f"| {int(e)} | {meanings[e]} |" for e in Exit)]
    return "\n".join([*lines, ""])


_SETTINGS_HEAD = """# Settings

Settings live in `$FABULA_HOME/config.toml` (default `~/.fabula/config.toml`). The environment beats the file, the file
beats the default; nothing in the working directory counts. `fabula config` lists every key, its value and where it came
from.

| key | type | default | environment | meaning |
|---|---|---|---|---|"""

_SETTINGS_FOOT = """
Other variables: `FABULA_HOME` (where all of it lies), `FABULA_DEBUG=1` (tracebacks of defects on standard error),
`NO_COLOR` (no styles).
"""


def _config() -> str:
    return "\n".join([_NOTE, _SETTINGS_HEAD, *(_key(key) for key in KEYS), _SETTINGS_FOOT])


def _key(key: Key) -> str:
    kind = " or ".join(f"`{choice}`" for choice in key.choices) or key.kind
    variable = f"`{key.environment}`" if key.environment else ""
    return f"| `{key.name}` | {kind} | {_toml(key.default)} | {variable} | {key.meaning} |"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return "`[" + ", ".join(f'"{part}"' for part in value) + "]`"
    return f"`{value}`" if isinstance(value, int) else f'`"{value}"`'


def main() -> int:
    """Write the pages into the folder named on the command line."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
