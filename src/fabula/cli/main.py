"""The entry point: words in, one call of a use case, text or one envelope out, an exit status."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fabula.cli.output import Out, open_output, to_json
from fabula.cli.parse import Call, Surroundings, parse, wants_json
from fabula.kernel.envelope import failure, success
from fabula.kernel.errors import Exit, FabulaError
from fabula.kernel.values import names_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabula.app.wiring import App
    from fabula.cli.command import Command


def main(words: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status. The one place where errors become text."""
    words = sys.argv[1:] if words is None else words
    as_json = wants_json(words)
    try:
        return _run(words)
    except FabulaError as error:
        return _fail(error, as_json=as_json)
    except KeyboardInterrupt:
        return _fail(FabulaError("ERR_INTERRUPTED", "interrupted"), as_json=as_json)
    except BrokenPipeError:  # the reader has what it wanted
        return _closed()
    except Exception as error:  # noqa: BLE001 - the last net: a defect of ours must not show a traceback
        from fabula.app.defects import as_internal_error

        return _fail(as_internal_error(error), as_json=as_json)


def _run(words: Sequence[str]) -> int:
    from fabula.app.wiring import build_app

    app = build_app()
    call = parse(words, Surroundings(app.cwd, app.clock.now_ms()))
    out = open_output(sys.stdout, app.environment)
    if call.version:
        call = Call(("version",), parse(["version"], Surroundings(app.cwd, 0)).command, {}, call.json)
    elif call.help:
        call = Call(("help",), parse(["help"], Surroundings(app.cwd, 0)).command, {"words": call.path}, call.json)
    return _perform(app, call, out)


def _perform(app: App, call: Call, out: Out) -> int:
    command = call.command
    if command is None:
        raise FabulaError("ERR_USAGE", "no command was named", "fabula help")
    if command.gated:
        from fabula.app.enabled import require_enabled

        require_enabled(app)
    try:
        result = load(command.handler)(app, _request(command, call))
    finally:
        app.close()
    if call.json:
        out.raw(to_json(success(command.result, result)))
    else:
        load(command.renderer)(result, out)
    out.flush()
    return int(getattr(result, "exit_status", Exit.DONE))


def _request(command: Command, call: Call) -> Any:
    """Build the request; where it can be told of progress and a terminal is there, the terminal is told."""
    kind = load(command.request)
    if "progress" in names_of(kind) and sys.stderr is not None and sys.stderr.isatty():
        from fabula.cli.progress import TerminalProgress

        return kind(**call.values, progress=TerminalProgress(_to_terminal))
    return kind(**call.values)


def _to_terminal(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def load(reference: str) -> Any:
    """Import what ``module:name`` names."""
    from importlib import import_module

    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


def _fail(error: FabulaError, *, as_json: bool) -> int:
    if as_json:
        try:
            open_output(sys.stdout, {}).raw_now(to_json(failure(error)))
        except BrokenPipeError:
            _closed()
        except FabulaError:  # standard output takes nothing, not even an error: then people are told
            as_json = False
    if as_json:
        return int(error.exit)
    with suppress(OSError, FabulaError):  # where standard error is refused too, the exit status alone can speak
        open_output(sys.stderr, {"NO_COLOR": "1"}).raw_now(_describe(error).encode("utf-8", "replace"))
    return int(error.exit)


def _describe(error: FabulaError) -> str:
    prefix = "" if error.message.startswith("fabula") else "fabula: "
    lines = [f"{prefix}{error.message} [{error.code}]"]
    lines += [f"  try: {suggestion}" for suggestion in error.suggestions]
    return "\n".join(lines) + "\n"


def _closed() -> int:
    """Point standard output at nothing, so that the interpreter's own flush at exit stays silent."""
    import os

    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    return int(Exit.DONE)
