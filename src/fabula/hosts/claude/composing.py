"""Writing Claude Code sessions out of records of others (``record.composing.parts.Composer``).

The client follows ``parentUuid`` from the last record upwards, so a composed session is one chain in file order:
nothing can be taken for a branch. (It groups the blocks of a response by ``message.id`` and puts results behind their
calls by itself; seen with 2.1.197.) Every copy gets a new ``uuid``, ``promptId``, ``message.id`` and new tool ids. It
loses ``requestId`` and ``usage``: the tokens were paid for once, and the size of a context of long ago is not this
one's.

Two fields of ours tell where it came from: ``fabulaSeam`` on the record before each thread, ``fabulaComposedFrom`` (the
uuid of the original) on every copy.
"""

from __future__ import annotations

from copy import deepcopy
from html import escape
from typing import TYPE_CHECKING, Any

from fabula.hosts.claude.fields import dict_of, text_of
from fabula.hosts.claude.locate import HOST
from fabula.hosts.claude.seams import COPY, SEAM
from fabula.kernel.clock import format_time
from fabula.kernel.commands import record_command
from fabula.kernel.errors import FabulaError
from fabula.record.composing.parts import Written
from fabula.record.reading.sentinels import without_private
from fabula.record.rewriting.lines import line

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    from fabula.record.composing.ids import FreshIds
    from fabula.record.composing.pairing import End
    from fabula.record.composing.parts import Heading, Part, Told

RETOLD = "retold"  # the model of an answer that another agent gave
SEAM_TAG = "fabula-seam"

LISTS = "lists and reminders that the client writes anew"
MEASURES = "measurements and messages of the client"
COMPACTIONS = "compactions (what they summed up is here itself)"
ERRORS = "what the client said in the model's place (errors, placeholders)"
SEAMS = "seams of an earlier composition"
STRANGE = "kinds of record that are no part of a conversation"

#: Attachments that describe the client or the moment, not the conversation.
_LISTS = frozenset({
    "agent_listing_delta", "skill_listing", "deferred_tools_delta", "mcp_instructions_delta", "task_reminder",
    "todo_reminder", "date_change", "token_usage", "budget_usd", "output_style", "auto_mode", "auto_mode_exit",
    "plan_mode", "plan_mode_reentry", "plan_mode_exit", "critical_system_reminder", "ultramemory", "context_efficiency",
})  # fmt: skip
#: What the client says to itself when it resumes a session that ended in the middle of an answer.
_GO_ON = "Continue from where you left off."
#: Fields that tie a record to the session, the response or the agent that it was written in.
_TIES = (SEAM, "requestId", "forkedFrom", "agentId", "slug", "teamName", "sourceToolUseID", "logicalParentUuid")
#: Where records and blocks name a tool call.
_TOOL_FIELDS = ("tool_use_id", "toolUseID", "parentToolUseID")
_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})
#: The client cuts longer folder names and adds a checksum of its own.
LONGEST_FOLDER = 200
_ENVELOPE = ("userType", "entrypoint", "version", "gitBranch")


class ClaudeComposer:
    """Writes Claude Code's files."""

    host = HOST

    def stays_out(self, value: dict[str, Any]) -> str:
        """Return why a record does not belong into a new session."""
        kind = value.get("type")
        if kind in ("user", "assistant"):
            return _message_stays_out(value)
        if kind == "attachment":
            return LISTS if text_of(dict_of(value.get("attachment")).get("type")) in _LISTS else ""
        if kind == "system":
            subtype = text_of(value.get("subtype"))
            if subtype.endswith("compact_boundary"):
                return COMPACTIONS
            return "" if subtype == "local_command" else MEASURES
        return MEASURES if kind == "progress" else STRANGE

    def answer_of(self, value: dict[str, Any]) -> str:
        """Return the response's id."""
        return text_of(dict_of(value.get("message")).get("id")) if value.get("type") == "assistant" else ""

    def without(self, value: dict[str, Any], ends: Collection[End], *, thoughts: bool) -> dict[str, Any]:
        """Return a record without some blocks; the record itself where none of them is in it."""
        message = dict_of(value.get("message"))
        content = message.get("content")
        if not isinstance(content, list):
            return value
        kept = [block for block in content if not _is_cut(block, ends, thoughts=thoughts)]
        return value if len(kept) == len(content) else {**value, "message": {**message, "content": kept}}

    def tell(self, told: Told) -> dict[str, Any]:
        """Return a message with the text; what of the envelope belongs to the session is added when it is written."""
        content = [{"type": "text", "text": told.text}]
        message: dict[str, Any] = {"role": told.role, "content": content}
        if told.role == "assistant":
            message |= {
                "id": told.answer,
                "type": "message",
                "model": RETOLD,
                "stop_reason": None,
                "stop_sequence": None,
            }
        return {
            "type": told.role,
            "userType": "external",
            "cwd": "",
            "message": message,
            **({"timestamp": format_time(told.time)} if told.time is not None else {}),
        }

    def folder(self, root: Path, cwd: str) -> Path:
        """Return ``projects/KEY``: every UTF-16 unit that is no ASCII letter or digit becomes a dash."""
        key = "".join(c if c.isascii() and c.isalnum() else "-" * (1 + (ord(c) > 0xFFFF)) for c in cwd)
        if len(key) > LONGEST_FOLDER:
            raise FabulaError(
                "ERR_PATH",
                f"the path {cwd} is too long: how Claude Code names its folder cannot be told",
                "name a shorter one: fabula record compose THREAD --cwd DIR",
            )
        return root / "projects" / key

    def file_name(self, session: str) -> str:
        """Return the transcript's name."""
        return f"{session}.jsonl"

    def write(self, heading: Heading, parts: Sequence[Part], ids: FreshIds) -> Written:
        """Write titles, then for each thread its seam and its records."""
        title = _line({
            "type": "custom-title", "customTitle": heading.title, "sessionId": heading.session, COPY: "",
        })  # fmt: skip
        weaver = _Weaver(heading, ids)
        written = tuple(b"".join(map(_line, weaver.part(number, part))) for number, part in enumerate(parts))
        return Written(title, written, title)  # again at the end: lists of sessions read a file's last 64 KB


class _Weaver:
    """Gives records their new ids and their place in the chain."""

    def __init__(self, heading: Heading, ids: FreshIds) -> None:
        self._heading = heading
        self._ids = ids
        self.leaf: str | None = None

    def part(self, number: int, part: Part) -> list[dict[str, Any]]:
        """Return a thread's seam and records."""
        prompt = self._ids.uuid("prompt", number)
        records = [self._seam(number, part, prompt)]
        uuids = {copied.uid: self._ids.uuid("record", number, copied.uid) for copied in part.records}
        if not part.card:
            records.extend(self._copy(number, copied.value, copied.uid, uuids, prompt) for copied in part.records)
        return records

    def _seam(self, number: int, part: Part, prompt: str) -> dict[str, Any]:
        uuid = self._ids.uuid("seam", number)
        model = part.records[0].value if part.records else {}
        record = {
            "parentUuid": self.leaf,
            "isSidechain": False,
            **{name: model[name] for name in _ENVELOPE if name in model},
            "cwd": self._heading.cwd,
            "sessionId": self._heading.session,
            "type": "user",
            "isMeta": True,
            "promptId": prompt,
            "message": {"role": "user", "content": seam_text(part)},
            SEAM: {
                "session": part.session,
                "thread": part.thread,
                "title": part.title,
                "records": 0 if part.card else len(part.records),
                "leftOut": part.left_out,
            },
            "uuid": uuid,
            "timestamp": format_time(self._heading.now),
        }
        self.leaf = uuid
        return record

    def _copy(
        self, number: int, original: dict[str, Any], uid: str, uuids: dict[str, str], prompt: str
    ) -> dict[str, Any]:
        value = deepcopy({name: each for name, each in original.items() if name not in _TIES})
        value |= {"uuid": uuids[uid], "parentUuid": self.leaf, "sessionId": self._heading.session, "isSidechain": False}
        if "cwd" in value:
            value["cwd"] = self._heading.cwd
        if "promptId" in value or value["type"] == "user":
            value["promptId"] = prompt
        source = value.pop("sourceToolAssistantUUID", None)
        if isinstance(source, str) and source in uuids:
            value["sourceToolAssistantUUID"] = uuids[source]
        message = value.get("message")
        if isinstance(message, dict):
            message.pop("usage", None)
            if text_of(message.get("id")):
                message["id"] = f"msg_{self._ids.word(24, 'response', number, message['id'])}"
        hide_private(value)
        rename_tools(value, lambda tool: f"toolu_{self._ids.word(24, 'tool', number, tool)}")
        value[COPY] = uid
        self.leaf = value["uuid"]
        return value


def seam_text(part: Part) -> str:
    """Return what the model reads at a seam."""
    since = f", {format_time(part.first_time)[:16].replace('T', ' ')} UTC" if part.first_time is not None else ""
    origin = f"thread {part.thread} of session {part.session}{since}"
    lines = [
        f"{'Known' if part.card else 'What follows was taken over'} from another session ({origin}): "
        + (part.title or "no title"),
        "It is history: files and facts may have changed since.",
    ]
    if part.left_out and not part.card:
        lines.append("Left out: " + ", ".join(f"{reason} ({count})" for reason, count in part.left_out.items()) + ".")
    if part.retold:
        lines.append("It was another agent's session: its calls of tools and their results are told in brackets.")
    if part.card:
        lines += ["Only its card was taken over:", part.card]
    lines.append(f"All of it: {record_command('thread', part.thread)}")
    body = escape("\n".join(lines), quote=False)
    session, thread = escape(part.session), escape(part.thread)
    return f'<{SEAM_TAG} session="{session}" thread="{thread}">\n{body}\n</{SEAM_TAG}>'


def hide_private(value: dict[str, Any]) -> None:
    """Take private text out of what a person said, in place: it is shown to no model a second time."""
    said = (dict_of(value.get("message")), "content") if value.get("type") == "user" else None
    holder, key = said or (dict_of(value.get("attachment")), "prompt")
    content = holder.get(key)
    if isinstance(content, str):
        holder[key] = without_private([content])[0]
        return
    blocks = [block for block in content if dict_of(block).get("type") == "text"] if isinstance(content, list) else []
    for block, text in zip(blocks, without_private([text_of(block.get("text")) for block in blocks]), strict=True):
        block["text"] = text


def rename_tools(value: dict[str, Any], renamed: Callable[[str], str]) -> None:
    """Give new ids to the tool calls that a record names, in place; what was asked and answered stays as it is."""
    for holder in (value, dict_of(value.get("attachment"))):
        for name in _TOOL_FIELDS:
            if text_of(holder.get(name)):
                holder[name] = renamed(holder[name])
    content = dict_of(value.get("message")).get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            if text_of(block.get("type")) in _CALLS and text_of(block.get("id")):
                block["id"] = renamed(block["id"])
            if text_of(block.get("tool_use_id")):
                block["tool_use_id"] = renamed(block["tool_use_id"])


def _message_stays_out(value: dict[str, Any]) -> str:
    message = value.get("message")
    if not isinstance(message, dict):
        return STRANGE
    if value.get("isCompactSummary") is True:
        return COMPACTIONS
    if dict_of(value.get(SEAM)).get("records"):
        return SEAMS  # one that holds a card is all that its thread says
    if value.get("isMeta") is True and _plain_text(message) == _GO_ON:
        return MEASURES
    if value["type"] == "assistant":
        failed = message.get("model") == "<synthetic>" or value.get("isApiErrorMessage") is True
        return ERRORS if failed else ""
    return ""


def _plain_text(message: dict[str, Any]) -> str:
    """Return what a message says when it is one text and nothing else."""
    content = message.get("content")
    if isinstance(content, list) and len(content) == 1:
        content = text_of(dict_of(content[0]).get("text"))
    return text_of(content)


def _is_cut(block: object, ends: Collection[End], *, thoughts: bool) -> bool:
    if not isinstance(block, dict):
        return False
    kind = text_of(block.get("type"))
    end = ("call", text_of(block.get("id"))) if kind in _CALLS else ("result", text_of(block.get("tool_use_id")))
    return (thoughts and kind in _THOUGHTS) or (end[1] != "" and end in ends)


def _line(value: dict[str, Any]) -> bytes:
    return line(value) + b"\n"
