"""No value of any shape breaks the reader of Codex rollouts, and every value is accounted for."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.hosts.codex.lists import HistoryNormaliser, NamesNormaliser
from fabula.hosts.codex.normaliser import CodexNormaliser
from fabula.kernel.records import SourceFile
from fabula.testing.reader_laws import assert_total

FILE = SourceFile("codex", "/x/rollout.jsonl", "session", "s", 0, 0, 0, 0)
KEYS = [
    "type", "payload", "timestamp", "id", "role", "content", "text", "message", "call_id", "arguments", "input",
    "output", "action", "summary", "item", "info", "usage", "source", "git", "metadata", "name", "command", "changes",
    "exit_code",
    "invocation", "result", "num_turns", "turn_id", "last_token_usage", "total_token_usage", "input_tokens", "subagent",
    "thread_spawn", "internal_chat_message_metadata_passthrough", "content_item_kinds", "record_type", "tools",
]  # fmt: skip
WORDS = [
    "response_item", "event_msg", "session_meta", "turn_context", "compacted", "token_usage_record", "message",
    "reasoning", "function_call", "function_call_output", "custom_tool_call", "local_shell_call", "web_search_call",
    "user_message", "agent_message", "token_count", "item_completed", "CommandExecution", "UserMessage",
    "exec_command_end", "mcp_tool_call_end", "thread_rolled_back", "user", "assistant", "{}", '{"output":1}', "",
    "ghost_snapshot", "inter_agent_communication", "compaction", "turn_aborted", "thread_name_updated",
]  # fmt: skip
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=5)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=14,
)
envelopes = st.fixed_dictionaries(
    {"type": st.sampled_from(WORDS[:6]), "payload": st.dictionaries(st.sampled_from(KEYS), values, max_size=7)}
)


@settings(max_examples=400)
@given(st.lists(envelopes | values, max_size=6))
def test_any_sequence_of_values_gives_records_or_named_skips(lines):
    assert_total(lambda state: CodexNormaliser(FILE, state), lines)


@given(st.dictionaries(st.sampled_from(["version", *KEYS, "calls", "turns", "seen", "cwd", "session"]), values))
def test_a_strange_saved_state_is_no_obstacle(state):
    normaliser = CodexNormaliser(FILE, state)
    assert normaliser.normalise({"type": "compacted", "payload": {"message": "x"}}, 0, 1).kind == "summary"


@given(values)
def test_the_lists_beside_rollouts_survive_any_value(value):
    assert HistoryNormaliser(set(), None).normalise(value, 0, 1)
    assert NamesNormaliser(None).normalise(value, 0, 1)
