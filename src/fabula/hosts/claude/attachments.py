"""Attachments: what the host put beside a turn. Most is context for the model and has no text of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.hosts.claude.blocks import read_blocks
from fabula.hosts.claude.classify import marked_kind
from fabula.hosts.claude.fields import dict_of, text_of
from fabula.kernel.records import Block

if TYPE_CHECKING:
    from fabula.kernel.records import Kind


def read_attachment(value: dict[str, Any]) -> tuple[Kind, str, list[Block], str]:
    """Read an attachment record: (kind, role, blocks, uid of the queued prompt that it delivers)."""
    attachment = dict_of(value.get("attachment"))
    kind = text_of(attachment.get("type"))
    if kind == "queued_command":
        return _queued(attachment)
    if kind == "edited_text_file":
        text = "\n".join(filter(None, (text_of(attachment.get("filename")), text_of(attachment.get("snippet")))))
    elif kind.startswith("hook_"):
        text = _hook_text(attachment)
    else:
        text = ""
    return "attachment", "system", [Block("text", text)] if text else [], ""


def _queued(attachment: dict[str, Any]) -> tuple[Kind, str, list[Block], str]:
    """Words typed while the agent was working are delivered as an attachment and become no user record."""
    blocks = read_blocks(attachment.get("prompt"))
    origin = text_of(dict_of(attachment.get("origin")).get("kind"))
    mark = next((marked_kind(block.text) for block in blocks if block.kind == "text"), None)
    human = attachment.get("commandMode") in ("prompt", None) and origin in ("", "human") and mark is None
    queued = text_of(attachment.get("source_uuid"))
    return ("prompt", "user", blocks, queued) if human and blocks else (mark or "notice", "system", blocks, queued)


def _hook_text(attachment: dict[str, Any]) -> str:
    content = attachment.get("content")
    texts = [text_of(part) for part in content] if isinstance(content, list) else [text_of(content)]
    if not any(texts):
        texts = [text_of(attachment.get("stdout"))]
    texts += [text_of(attachment.get("stderr")), text_of(attachment.get("blockingError"))]
    return "\n".join(text for text in texts if text)
