"""Telling what a person typed from what Codex puts into user messages: instructions, environment, notices. Pure."""

from __future__ import annotations

import re
from typing import Any, Literal

from fabula.hosts.fields import list_of, mapping_of

Said = Literal["said", "injected", "shell"]

#: Beginnings of texts that Codex writes under the user's name. Whole names of its own tags and its own warnings only: a
#: person may paste any others.
_MARKERS = (
    "# AGENTS.md instructions",
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "<skill>",
    "<skills_instructions>",
    "<permissions instructions>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<collaboration_mode>",
    "<multi_agent_mode>",
    "<model_switch>",
    "<personality_spec>",
    "<app-context>",
    "<apps_instructions>",
    "<plugins_instructions>",
    "<recommended_plugins>",
    "<context_window",
    "<hook_prompt",
    "<goal_context>",
    "<codex_delegation>",
    "<codex_internal_context",
    "<rollout_budget>",
    "<token_budget>",
    "<user_action>",
    "<ENVIRONMENT_CONTEXT>",
    "Warning: apply_patch was requested via ",
    "Warning: The maximum number of unified exec processes",
)
_SHELL = "<user_shell_command>"
_CWD = re.compile(r"<cwd>\s*([^<\n]+?)\s*</cwd>|^Current working directory: (\S.*)$", re.MULTILINE)


def voice(text: str, kind: str = "") -> Said:
    """Say whose text it is. ``kind`` is the host's own word for the item (``user.text``), where it gives one."""
    start = text[:200].lstrip()
    if start.startswith(_SHELL):
        return "shell"
    if kind and kind != "unknown":
        return "said" if kind.startswith("user") else "injected"
    return "injected" if start.startswith(_MARKERS) else "said"


def item_kinds(payload: dict[str, Any]) -> list[Any]:
    """Return the host's words for the content items of a message, in their order; empty where it gives none."""
    found = list_of(mapping_of(payload, "internal_chat_message_metadata_passthrough"), "content_item_kinds")
    return found or list_of(payload, "content_item_kinds")


def told_cwd(text: str) -> str:
    """Return the working folder that an environment notice names, else ``""``."""
    found = _CWD.search(text)
    return (found[1] or found[2]) if found else ""
