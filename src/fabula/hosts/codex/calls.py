"""Tool calls of Codex in their many shapes, brought to one: a name, an id, arguments. Pure."""

from __future__ import annotations

import re
from typing import Any

from fabula.hosts.fields import list_of, mapping_of, object_in, text_of
from fabula.kernel.values import define

_PATCH_BEGIN = "*** Begin Patch"
_PATCH_END = "*** End Patch"
_PATCH_FILE = re.compile(r"^\*\*\* (?:Add|Delete|Update) File: (.+?)\s*$", re.MULTILINE)

#: Fields of a call item that say nothing about what it does.
_FRAME = {"type", "id", "call_id", "status", "name", "namespace", "internal_chat_message_metadata_passthrough",
          "result", "encrypted_content"}  # fmt: skip


@define
class Call:
    """A tool call as a block needs it; ``raw`` are the arguments as the host wrote them, for its identity."""

    tool: str
    tool_id: str
    input: dict[str, Any]
    raw: str


def read_call(payload: dict[str, Any], kind: str) -> Call:
    """Read a call item of any type: function, custom (free-form), local shell, web search, and what is to come."""
    tool_id = text_of(payload, "call_id") or text_of(payload, "id")
    if kind == "function_call":
        raw = payload.get("arguments")
        name = _full_name(payload)
        return Call(name, tool_id, _with_patch(name, arguments(raw)), _raw(raw))
    if kind == "custom_tool_call":
        raw = payload.get("input")
        name = text_of(payload, "name")
        given = {"input": raw} if isinstance(raw, str) else arguments(raw)
        return Call(name, tool_id, _with_patch(name, given), _raw(raw))
    if kind == "local_shell_call":
        action = dict(mapping_of(payload, "action"))
        return Call("local_shell_call", tool_id, action, _raw(action))
    given = {key: value for key, value in payload.items() if key not in _FRAME}
    action = mapping_of(given, "action")
    given = dict(action) if action else given
    return Call(text_of(payload, "name") or kind.removesuffix("_call"), tool_id, given, _raw(given))


def _full_name(payload: dict[str, Any]) -> str:
    """Return a function's name; newer versions tell the MCP server of a tool apart, older ones wrote it before it."""
    name, space = text_of(payload, "name"), text_of(payload, "namespace")
    return f"{space}__{name}" if space.startswith("mcp__") and not name.startswith("mcp__") else name


def arguments(value: Any) -> dict[str, Any]:
    """Return a call's arguments: an object, or an object written into a text; anything else under ``arguments``."""
    if isinstance(value, dict):
        return value
    if isinstance(value, str):
        decoded = object_in(value) if value.lstrip().startswith("{") else None
        return decoded if decoded is not None else {"arguments": value} if value else {}
    return {} if value is None else {"arguments": value}


def _with_patch(tool: str, given: dict[str, Any]) -> dict[str, Any]:
    """Give ``apply_patch`` its own form: the patch and the files it names."""
    if tool != "apply_patch":
        return given
    text = next((value for value in given.values() if isinstance(value, str) and _PATCH_BEGIN in value), None)
    if text is None:
        return given
    end = text.rfind(_PATCH_END)
    patch = text[text.find(_PATCH_BEGIN) : end + len(_PATCH_END) if end >= 0 else len(text)]
    return {"patch": patch, "files": _PATCH_FILE.findall(patch)}


def spawned_agent(output: str) -> str:
    """Return the id of the agent that a ``spawn_agent`` result names, else ``""``."""
    return text_of(arguments(output), "agent_id") if output.startswith("{") else ""


def shell_words(value: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a command that an event reports by its words."""
    words = [word for word in list_of(value, "command") if isinstance(word, str)]
    return {"command": words or text_of(value, "command"), "workdir": text_of(value, "cwd").removeprefix("file://")}


def _raw(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        import msgspec

        return msgspec.json.encode(value, order="deterministic").decode()
    except (TypeError, ValueError, RecursionError, UnicodeError):
        return repr(value)
