"""A line that was read before reads the same from the saved state, in any order, and changes nothing."""

from __future__ import annotations

import json
from copy import deepcopy

from fabula.hosts.codex.normaliser import CodexNormaliser
from fabula.kernel.records import Record, SourceFile

FILE = SourceFile("codex", "/x/rollout.jsonl", "session", "s1", 0, 0, 0, 0)


def line(kind, **payload):
    return {"timestamp": "2026-03-01T10:00:00Z", "type": kind, "payload": payload}


def said(role, text, **fields):
    return line("response_item", type="message", role=role, content=[{"type": "text", "text": text}], **fields)


TOTALS = {"total_token_usage": {"input_tokens": 9}, "last_token_usage": {"input_tokens": 9}}
LINES = [
    line("session_meta", id="s1", cwd="/home/ada", git={"branch": "main"}),
    line("event_msg", type="user_message", message="early"),
    line("event_msg", type="agent_message", message="early answer"),
    said("user", "go on"),
    line("turn_context", turn_id="t1", cwd="/home/ada/one", model="m1"),
    said("assistant", "yes"),
    line("response_item", type="function_call", name="f", arguments="{}", call_id="c1"),
    line("event_msg", type="exec_command_end", call_id="c1", exit_code=4),
    line("response_item", type="function_call_output", call_id="c1", output="bare"),
    line("event_msg", type="token_count", info=TOTALS),
    line("response_item", type="reasoning", summary=[]),
    line("event_msg", type="agent_reasoning_raw_content", text="raw"),
    line("event_msg", type="item_completed", item={"type": "CommandExecution", "id": "n1", "aggregated_output": "x"}),
    line("event_msg", type="task_complete", turn_id="t1"),
    said("user", "go on"),
    line("turn_context", turn_id="t2", cwd="/home/ada/two", model="m2"),
    said("assistant", "yes"),
    said("user", "go on"),
    line("token_usage_record", response_id="r1", thread_id="s1", usage={"input_tokens": 5}),
    line("compacted", message="so far"),
]


def first_reading():
    normaliser = CodexNormaliser(FILE, None)
    return [normaliser.normalise(value, at * 10, 9) for at, value in enumerate(LINES)], normaliser.state


def test_every_record_reads_again_from_the_saved_state_as_it_read_first():
    found, state = first_reading()
    state = json.loads(json.dumps(state))
    before = deepcopy(state)
    again = CodexNormaliser(FILE, state)
    records = [(at, record) for at, record in enumerate(found) if isinstance(record, Record)]
    assert len(records) == 14
    for at, record in reversed(records):
        assert again.normalise(LINES[at], at * 10, 9) == record
    assert again.state == before


def test_after_reading_again_new_lines_go_on_from_where_the_file_was():
    _, state = first_reading()
    normaliser = CodexNormaliser(FILE, state)
    normaliser.normalise(LINES[3], 30, 9)
    later = normaliser.normalise(said("assistant", "later"), 1000, 9)
    assert (later.cwd, later.prompt_id) == ("/home/ada/two", normaliser.state["thread"])
