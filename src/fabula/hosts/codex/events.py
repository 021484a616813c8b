"""Events: what the screen showed. Most repeat a response item; this reader keeps what only they say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.hosts.codex.calls import arguments, shell_words
from fabula.hosts.codex.injected import voice
from fabula.hosts.codex.items import print_of, said
from fabula.hosts.codex.outputs import read_output
from fabula.hosts.codex.tokens import difference, is_empty, total_key
from fabula.hosts.fields import count_of, kind_name, list_of, mapping_of, text_of
from fabula.kernel.records import Block

if TYPE_CHECKING:
    from collections.abc import Callable

    from fabula.hosts.codex.items import Line
    from fabula.kernel.records import Kind, Record

_ENDS = {"exec_command_end", "patch_apply_end", "mcp_tool_call_end", "web_search_end", "view_image_tool_call",
         "image_generation_end", "dynamic_tool_call_response"}  # fmt: skip
_TROUBLE = {"error", "stream_error", "warning", "turn_aborted", "background_event", "guardian_warning"}
_TOOL_ITEMS = {"CommandExecution": "exec_command", "FileChange": "apply_patch"}


class EventReader:
    """Reads event lines of one rollout."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._readers: dict[str, Callable[[dict[str, Any]], Record | str]] = {
            "user_message": self._user_message,
            "agent_message": self._agent_message,
            "agent_reasoning": self._reasoning,
            "agent_reasoning_raw_content": self._reasoning,
            "token_count": self._token_count,
            "task_started": self._started,
            "turn_started": self._started,
            "task_complete": self._ended,
            "turn_complete": self._ended,
            "thread_rolled_back": self._rolled_back,
            "thread_name_updated": self._named,
            "context_compacted": self._compacted,
            "item_completed": self._item_completed,
        }

    def read(self, payload: dict[str, Any]) -> Record | str:
        """Return the record of an event that says something of its own, or the kind under which it is skipped."""
        kind = text_of(payload, "type")
        reader = self._readers.get(kind)
        if reader is not None:
            return reader(payload)
        if kind in _ENDS:
            return self._tool_ended(payload, kind)
        if kind in _TROUBLE:
            return self._trouble(payload, kind)
        return kind_name("event_msg", kind)

    # ── what was said ────────────────────────────────────────────────

    def _user_message(self, payload: dict[str, Any]) -> Record | str:
        text = text_of(payload, "message")
        whose = voice(text)
        kind: Kind = "command" if whose == "shell" else "notice"
        if whose == "said":
            kind = "task" if self._line.state["sidechain"] else "prompt"
        return self._said(kind, "user", text, "user_message")

    def _agent_message(self, payload: dict[str, Any]) -> Record | str:
        return self._said("reply", "assistant", text_of(payload, "message"), "agent_message")

    def _said(self, kind: Kind, role: str, text: str, event: str) -> Record | str:
        line = self._line
        if line.state["items"] or not text:
            return kind_name("event_msg", event)
        record = said(line, kind, role, [Block("text", text)], turn=line.state["turn"])
        line.state["said"][print_of(role, text)] = True
        return record

    def _reasoning(self, payload: dict[str, Any]) -> Record | str:
        """A thought is kept when no item holds its text."""
        text, state = text_of(payload, "text"), self._line.state
        if not text or (state["items"] and not state["mute"]):
            return kind_name("event_msg", text_of(payload, "type"))
        return self._line.record(
            "thought", "assistant", "agent_reasoning", content=text, blocks=[Block("thought", text)]
        )

    # ── turns ────────────────────────────────────────────────────────

    def _started(self, payload: dict[str, Any]) -> str:
        self._line.thread.open_turn(text_of(payload, "turn_id"))
        return kind_name("event_msg", text_of(payload, "type"))

    def _ended(self, payload: dict[str, Any]) -> str:
        self._line.thread.close_turn()
        return kind_name("event_msg", text_of(payload, "type"))

    def _rolled_back(self, payload: dict[str, Any]) -> Record:
        turns = count_of(payload, "num_turns")
        record = self._line.record("boundary", "system", "thread_rolled_back", content=str(turns))
        record.rewinds_to = self._line.thread.roll_back(turns)
        return record

    def _compacted(self, payload: dict[str, Any]) -> Record:
        return self._line.record("boundary", "system", "context_compacted", host_id=text_of(payload, "id"))

    def _named(self, payload: dict[str, Any]) -> Record | str:
        name = text_of(payload, "thread_name")
        if not name:
            return "event_msg/thread_name_updated"
        record = self._line.record("title", "", "thread_name_updated", content=name)
        record.title, record.title_rank = name, 3
        return record

    def _trouble(self, payload: dict[str, Any], kind: str) -> Record:
        text = text_of(payload, "message") or text_of(payload, "reason")
        record = self._line.record("system", "system", kind, content=text, blocks=[Block("text", text)])
        if kind == "turn_aborted":
            self._line.thread.close_turn()
        return record

    def _token_count(self, payload: dict[str, Any]) -> Record | str:
        state = self._line.state
        info = mapping_of(payload, "info")
        totals, last = mapping_of(info, "total_token_usage"), mapping_of(info, "last_token_usage")
        before, key = state["total"], total_key(totals)
        if state["counted"] or (not totals and not last) or (totals and total_key(before) == key and before):
            return "event_msg/token_count"
        counts = last or difference(totals, before)
        state["total"] = dict(totals)
        state["model"] = text_of(info, "model") or state["model"]
        if is_empty(counts):
            return "event_msg/token_count"
        return self._line.usage_of(f"{state['root']}:{key}", counts)

    # ── tools ────────────────────────────────────────────────────────

    def _tool_ended(self, payload: dict[str, Any], kind: str) -> Record | str:
        tool_id = text_of(payload, "call_id")
        code = payload.get("exit_code")
        failed = (isinstance(code, int) and code != 0) or payload.get("success") is False
        if self._known(tool_id, failed=failed):
            return kind_name("event_msg", kind)
        invocation = mapping_of(payload, "invocation")
        given = arguments(invocation.get("arguments")) if invocation else _what_was_done(payload)
        tool = text_of(invocation, "tool") or kind.removesuffix("_end")
        text = _told(payload)
        output = read_output(payload.get("result")) if not text else read_output(text)
        return self._whole_call(kind, tool, tool_id, given, output.text, failed=failed or output.failed)

    def _item_completed(self, payload: dict[str, Any]) -> Record | str:
        item = mapping_of(payload, "item")
        kind = text_of(item, "type")
        if kind == "UserMessage":
            return self._user_message({"message": _joined(item)})
        if kind == "AgentMessage":
            return self._agent_message({"message": _joined(item)})
        if kind == "ContextCompaction":
            return self._compacted(item)
        if kind == "Reasoning" or not text_of(item, "id"):
            return kind_name("event_msg", "item_completed", kind)
        code = item.get("exit_code")
        failed = (isinstance(code, int) and code != 0) or text_of(item, "status") in ("failed", "declined")
        if self._known(text_of(item, "id"), failed=failed) or kind == "Plan":
            return kind_name("event_msg", "item_completed", kind)
        text = _told(item)
        tool = _TOOL_ITEMS.get(kind) or text_of(item, "tool") or kind
        return self._whole_call(
            f"item_completed/{kind}", tool, text_of(item, "id"), _what_was_done(item), text, failed=failed
        )

    def _known(self, tool_id: str, *, failed: bool) -> bool:
        """Say whether a call item stands for this tool run; its result then learns how the run ended."""
        line = self._line
        if not line.thread.call_of(tool_id):
            return False
        if failed:
            line.thread.failed(tool_id)
        return True

    def _whole_call(
        self, kind: str, tool: str, tool_id: str, given: dict[str, Any], text: str, *, failed: bool
    ) -> Record:
        blocks = [
            Block("call", tool=tool, tool_id=tool_id, input=given),
            Block("result", text, tool_id=tool_id, failed=failed),
        ]
        record = self._line.record(
            "call", "assistant", kind[:60], host_id=tool_id, content=f"{tool}\n{text}", blocks=blocks
        )
        self._line.thread.ran(tool_id, record.uid)
        return record


def _told(run: dict[str, Any]) -> str:
    return text_of(run, "aggregated_output") or text_of(run, "stdout") or text_of(run, "stderr")


def _joined(item: dict[str, Any]) -> str:
    return "\n".join(text_of(part, "text") for part in list_of(item, "content"))


def _what_was_done(item: dict[str, Any]) -> dict[str, Any]:
    """Return what an ended tool run says about its call."""
    if "command" in item:
        return shell_words(item)
    if "changes" in item:
        return {"changes": item["changes"]}
    return {key: item[key] for key in ("arguments", "query", "action", "path", "prompt") if key in item}
