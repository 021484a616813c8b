"""Which lines of a Claude Code transcript slimming drops as a whole, by category."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.hosts.claude.chain import is_wall
from fabula.hosts.claude.fields import dict_of, text_of
from fabula.hosts.claude.slimming_facts import STATES

if TYPE_CHECKING:
    from fabula.hosts.claude.slimming_facts import Facts

_NOISE = frozenset(("progress", "queue-operation"))
_NOISE_SYSTEM = frozenset(("turn_duration", "stop_hook_summary", "api_error"))
_LOCAL = ("<local-command-caveat>", "<local-command-stdout>")
_EXIT = "<command-name>/exit</command-name>"
#: What the client attaches anew when it needs it, and what hooks said of themselves. Words of a person
#: (``queued_command``), files and what hooks put into the context stay; so does what is not known here.
_ATTACHMENTS = frozenset((
    "hook_success", "hook_non_blocking_error", "hook_cancelled", "hook_system_message", "task_reminder",
    "todo_reminder", "skill_listing", "agent_listing_delta", "deferred_tools_delta", "mcp_instructions_delta",
    "command_permissions", "diagnostics", "date_change",
))  # fmt: skip


def drop_category(index: int, value: dict[str, Any], facts: Facts) -> str:
    """Return the category that takes a whole line out, or ``""``."""
    kind = text_of(value.get("type"))
    if kind == "attachment":
        return "attachments" if text_of(dict_of(value.get("attachment")).get("type")) in _ATTACHMENTS else ""
    if is_wall(value) or value.get("isCompactSummary") is True:
        return "walls"
    if kind in STATES:
        return "" if index in facts.last_states else "noise"
    return "noise" if _is_noise(kind, value) else ""


def _is_noise(kind: str, value: dict[str, Any]) -> bool:
    if kind in _NOISE or (kind == "system" and text_of(value.get("subtype")) in _NOISE_SYSTEM):
        return True
    message = dict_of(value.get("message"))
    if kind == "assistant":
        return message.get("model") == "<synthetic>"
    said = message.get("content")
    return kind == "user" and isinstance(said, str) and (said.startswith(_LOCAL) or _EXIT in said)
