"""What a tool of Codex answered: its text, whether it failed, how many pictures it held. Pure."""

from __future__ import annotations

import json
import re
from typing import Any

from fabula.hosts.fields import mapping_of, object_in
from fabula.kernel.values import define

_HEADS = ("Chunk ID:", "Wall time:", "Exit code:", "Process exited", "Script ")
_CODE = re.compile(r"^(?:Process exited with code|Exit code:) *(-?\d+)", re.MULTILINE)
_REFUSALS = (
    "unsupported call:",
    "unsupported custom tool call:",
    "apply_patch verification failed",
    "exec_command failed",
    "write_stdin failed",
    "failed to parse function arguments",
    "failed in sandbox",
    "execution error:",
    "aborted by user",
    "Script failed",
    "tool call error:",
    "exec command rejected",
    "patch rejected",
)
_HEAD_CHARACTERS = 400


@define
class Output:
    """A tool's answer as it is to be read."""

    text: str
    failed: bool = False
    images: int = 0


def read_output(value: Any) -> Output:
    """Read the ``output`` of a result item, in any of its shapes: text, JSON in text, content list, object."""
    if isinstance(value, str):
        return _from_text(value)
    if isinstance(value, list):
        return _from_items(value)
    if isinstance(value, dict):
        inner = value.get("content", value.get("output", value.get("text")))
        found = read_output(inner) if isinstance(inner, str | list) else Output(_as_json(value))
        if value.get("success") is False or value.get("is_error") is True or "Err" in value:
            found.failed = True
        return found
    return Output("")


def _from_text(text: str) -> Output:
    if text.startswith("{") and '"output"' in text:
        wrapped = _wrapped(text)
        if wrapped is not None:
            return wrapped
    return Output(text, failed=_says_failure(text))


def _says_failure(text: str) -> bool:
    if text.startswith(_REFUSALS):
        return True
    if not text.startswith(_HEADS):
        return False
    code = _CODE.search(text, 0, _HEAD_CHARACTERS)
    if code is None:
        return text.endswith("\naborted by user", 0, _HEAD_CHARACTERS)
    return int(code[1]) != 0


def _wrapped(text: str) -> Output | None:
    """Open ``{"output": …, "metadata": {"exit_code": …}}``, the form of older shells; ``None`` for anything else."""
    value = object_in(text) or {}
    inner = value.get("output")
    if not isinstance(inner, str):
        return None
    code = mapping_of(value, "metadata").get("exit_code", value.get("exit_code"))
    return Output(inner, failed=isinstance(code, int) and code != 0)


def _from_items(items: list[Any]) -> Output:
    texts: list[str] = []
    images = 0
    for item in items:
        if isinstance(item, str):
            texts.append(item)
        elif isinstance(item, dict):
            said = item.get("text")
            if isinstance(said, str):
                texts.append(said)
            elif "image" in str(item.get("type", "")):
                images += 1
    if len(texts) == 1:
        found = _from_text(texts[0])
        found.images = images
        return found
    return Output("\n".join(texts), failed=any(_says_failure(text) for text in texts[:1]), images=images)


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
