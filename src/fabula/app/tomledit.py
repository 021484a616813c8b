"""Changing one top-level list in a TOML file while every other byte stays: small, and proven after each change."""

from __future__ import annotations

import json
import re
import tomllib


def with_list(text: str, key: str, values: list[str]) -> str | None:
    """Return ``text`` with ``key = [values]`` at its top level, comments and order kept.

    ``None`` when the result would not read back as the same file with this one change.
    """
    line = f"{key} = [{', '.join(_quoted(value) for value in values)}]"
    assignment = re.compile(rf"^[ \t]*{re.escape(key)}[ \t]*=[ \t]*\[[^\]]*\]", re.MULTILINE)
    replaced, count = assignment.subn(lambda _: line, text, count=1)
    after = replaced if count else f"{line}\n{text}"
    try:
        wanted = tomllib.loads(text) | {key: values}
        return after if tomllib.loads(after) == wanted and after.encode() else None
    except (tomllib.TOMLDecodeError, UnicodeEncodeError):
        return None


def _quoted(value: str) -> str:
    """A TOML string; a closing bracket is escaped, so that the end of a list that we wrote is the first one in it."""
    return json.dumps(value, ensure_ascii=False).replace("]", "\\u005D").replace("\x7f", "\\u007F")
