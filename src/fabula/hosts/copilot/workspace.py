"""The name of a Copilot session, from the ``workspace.yaml`` beside its log: flat ``key: value`` lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fabula.hosts.fields import text_of
from fabula.kernel.clock import parse_time
from fabula.kernel.ids import derived_id
from fabula.kernel.records import Record

if TYPE_CHECKING:
    from fabula.kernel.records import SourceFile


class WorkspaceNormaliser:
    """Makes one title of the whole file (``record.sources.Normaliser``)."""

    def __init__(self, file: SourceFile, state: dict[str, Any] | None) -> None:
        self.state: dict[str, Any] = state or {}
        self._session = file.session

    def normalise(self, value: Any, offset: int, length: int) -> Record | str:
        """Return the title, or ``"workspace"`` when the session has none."""
        facts = read_facts(text_of(value, "text"))
        name = facts.get("name", "")
        if not name:
            return "workspace"
        return Record(
            derived_id("copilot", self._session, "title", name),
            self._session,
            "title",
            "",
            offset,
            length,
            time=parse_time(facts.get("created_at")),
            title=name,
            title_rank=3 if facts.get("user_named") == "true" else 2,
            cwd=facts.get("cwd", ""),
            branch=facts.get("branch", ""),
            raw_type="workspace",
            has_id=False,
        )


def read_facts(text: str) -> dict[str, str]:
    """Return the scalars of flat YAML: plain, single- and double-quoted ones, and the first line of folded ones."""
    facts: dict[str, str] = {}
    folded = ""
    for line in text.splitlines():
        if folded and line.startswith((" ", "\t")):
            facts.setdefault(folded, line.strip())
            continue
        key, found, value = line.partition(":")
        folded, value = "", value.strip()
        if not found or key != key.strip() or not key:
            continue
        if value[:1] in ("|", ">"):
            folded = key
        else:
            facts[key] = _scalar(value)
    return facts


def _scalar(value: str) -> str:
    if value[:1] == "'" == value[-1:] and len(value) > 1:
        return value[1:-1].replace("''", "'")
    if value[:1] == '"':
        try:
            read = json.loads(value)
        except ValueError:
            return value
        return read if isinstance(read, str) else value
    return "" if value in ("null", "~") else value
