"""A pruner of an earlier tool, as it is described: it slims a session and writes every line anew, in its own form.

Results of tools become ``[pruned]``, inputs of tools a stub of the fields that say what was done, ``toolUseResult`` and
noise go, pictures and thoughts stay, parents that went are replaced by their nearest ancestor that stays. Each line is
then one compact ASCII JSON object, whatever its bytes were before. A line that is no JSON object stays as it is.
"""

from __future__ import annotations

import json
from typing import Any

_NOISE = {"progress", "queue-operation", "last-prompt", "ai-title"}
_NOISY_SYSTEM = {"turn_duration", "stop_hook_summary", "api_error"}
_SETTINGS = ("custom-title", "agent-name", "mode", "permission-mode")
_COMMANDS = ("<local-command-caveat>", "<local-command-stdout>")
_KEPT_INPUTS = ("file_path", "path", "command", "description", "pattern", "query", "url", "prompt")
_CUT_INPUTS = {"command": 200, "prompt": 200}


def reserialise(data: bytes) -> bytes:
    """Return the whole lines of a session, slimmed, each written anew."""
    lines: list[bytes | dict[str, Any]] = []
    settings: dict[str, bytes] = {}
    parents: dict[str, str | None] = {}
    dropped: set[str] = set()
    for raw in data.splitlines():
        value = _object(raw)
        if value is None:
            lines.append(raw)
            continue
        uid, parent = value.get("uuid"), value.get("parentUuid")
        if isinstance(uid, str):
            parents[uid] = parent if isinstance(parent, str) else None
        if value.get("type") in _SETTINGS:
            settings[value["type"]] = _line(value)
        elif _is_noise(value):
            dropped |= {uid} if isinstance(uid, str) else set()
        else:
            _slim(value)
            lines.append(value)
    for line in lines:
        if isinstance(line, dict) and line.get("parentUuid") in dropped:
            line["parentUuid"] = _ancestor(line["parentUuid"], parents, dropped)
    written = [line if isinstance(line, bytes) else _line(line) for line in lines]
    return b"".join(line + b"\n" for line in (*settings.values(), *written))


def _object(raw: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(raw)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True).encode()


def _ancestor(uid: str | None, parents: dict[str, str | None], dropped: set[str]) -> str | None:
    seen: set[str] = set()
    while uid in dropped and uid not in seen:
        seen.add(uid)
        uid = parents.get(uid)
    return None if uid in dropped else uid


def _message(value: dict[str, Any]) -> dict[str, Any]:
    message = value.get("message")
    return message if isinstance(message, dict) else {}


def _is_noise(value: dict[str, Any]) -> bool:
    if value.get("type") in _NOISE or (value.get("type") == "system" and value.get("subtype") in _NOISY_SYSTEM):
        return True
    message = _message(value)
    content = message.get("content")
    spoken = isinstance(content, str) and (content.startswith(_COMMANDS) or "<command-name>/exit" in content)
    return message.get("model") == "<synthetic>" or (value.get("type") == "user" and spoken)


def _slim(value: dict[str, Any]) -> None:
    value.pop("toolUseResult", None)
    message = _message(value)
    message.pop("toolUseResult", None)
    content = message.get("content")
    if isinstance(content, list):
        message["content"] = [_block(block) if isinstance(block, dict) else block for block in content]


def _block(block: dict[str, Any]) -> dict[str, Any]:
    if block.get("type") == "tool_use":
        given = block.get("input")
        given = given if isinstance(given, dict) else {}
        kept = {key: given[key] for key in _KEPT_INPUTS if key in given}
        kept |= {key: kept[key][:limit] for key, limit in _CUT_INPUTS.items() if isinstance(kept.get(key), str)}
        return {
            "type": "tool_use", "id": block.get("id"), "name": block.get("name"),
            "input": kept or {"description": "pruned"},
        }  # fmt: skip
    if block.get("type") == "tool_result":
        return {"type": "tool_result", "tool_use_id": block.get("tool_use_id"), "content": "[pruned]"}
    return block
