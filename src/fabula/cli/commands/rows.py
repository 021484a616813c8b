"""What many rows share: how a verb's parts are named, and the options that mean the same everywhere."""

from __future__ import annotations

from typing import Any

from fabula.cli.command import Command, Option

ALL = Option("--all", "look at every project, not only this repository")
LIMIT = Option("--limit", "how many results at most", "int", least=1)
OFFSET = Option("--offset", "skip this many results", "int", default=0)
SINCE = Option("--since", "only what happened at or after this time (2026-03-01, 7d, yesterday)", "time")
UNTIL = Option("--until", "only what happened before this time; a day is meant to its end", "until")


def record_verb(verb: str, summary: str, **row: Any) -> Command:
    """A row ``record VERB``, served by ``fabula.app.record.<verb>`` and shown by ``fabula.cli.render.<verb>``."""
    return verb_row(("record", verb), f"fabula.app.record.{verb}", summary, **row)


def verb_row(path: tuple[str, ...], module: str, summary: str, **row: Any) -> Command:
    """A row whose parts follow the naming rule: ``module:verb``, ``module:VerbRequest``, ``render.verb:render``.

    A verb whose name is no good name for a function (``on``, ``file``) names its parts itself.
    """
    verb = path[-1]
    return Command(
        path=path,
        summary=summary,
        result=row.pop("result", ".".join(path)),
        handler=row.pop("handler", f"{module}:{verb}"),
        request=row.pop("request", f"{module}:{verb.capitalize()}Request"),
        renderer=row.pop("renderer", f"fabula.cli.render.{verb}:render"),
        **row,
    )
