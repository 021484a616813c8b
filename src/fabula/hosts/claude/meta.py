"""The small file beside a subagent's transcript that says who started it."""

from __future__ import annotations

import json

from fabula.hosts.claude.fields import dict_of, text_of
from fabula.kernel.values import frozen

_META_LIMIT = 1 << 20


@frozen
class AgentMeta:
    """What is known of a subagent beside its transcript; every field may be empty."""

    tool_id: str = ""  # the call that started it
    description: str = ""
    parent: str = ""  # agent id, when another subagent started it


def read_meta(transcript: str) -> AgentMeta:
    """Read ``agent-ID.meta.json`` beside ``agent-ID.jsonl``; one that is missing or damaged says nothing."""
    try:
        with open(transcript.removesuffix(".jsonl") + ".meta.json", "rb") as file:
            meta = dict_of(json.loads(file.read(_META_LIMIT)))
    except (OSError, ValueError, RecursionError):
        return AgentMeta()
    return AgentMeta(
        text_of(meta.get("toolUseId")), text_of(meta.get("description")), text_of(meta.get("parentAgentId"))
    )
