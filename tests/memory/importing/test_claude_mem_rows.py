"""Rows of claude-mem, of any of its versions, become memories."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fabula.memory.importing.claude_mem import read_claude_mem

ROW: dict[str, Any] = {
    "id": 7, "memory_session_id": "m1", "project": "/home/mira/Harbor App", "type": "bugfix",
    "title": "Fixed the token leak", "subtitle": "Tokens are released on every path",
    "narrative": "The early return kept one. It is a finally now.", "facts": '["limiter.py line 40", "3 tests"]',
    "concepts": '["problem-solution", "gotcha"]', "created_at_epoch": 1_760_000_000_000,
}  # fmt: skip


def test_an_observation_is_a_memory_with_its_project_its_session_and_its_time() -> None:
    sessions = [{"memory_session_id": "m1", "content_session_id": "abc-123"}]
    (one,) = read_claude_mem({"observations": [ROW], "sdk_sessions": sessions}).candidates
    memory = one.memory
    assert (memory.title, memory.claim) == ("Fixed the token leak", "Tokens are released on every path")
    assert memory.body == ("The early return kept one. It is a finally now.", "limiter.py line 40", "3 tests")
    assert (memory.type, memory.workspace) == ("error_pattern", "harbor-app")
    assert memory.tags == ("bugfix", "problem-solution", "gotcha")
    assert memory.valid_from == "2025-10-09T08:53:20Z"
    assert memory.provenance.session == "abc-123"


def test_rules_of_a_person_and_what_sessions_learned_come_along() -> None:
    found = read_claude_mem(
        {
            "directives": [
                {"id": 1, "content": "Never push to main.", "status": "active", "project": None},
                {"id": 2, "content": "Old.", "status": "retired"},
            ],
            "session_summaries": [
                {"id": 1, "learned": "Retries double the load. Cap them.", "project": "harbor"},
                {"id": 2, "learned": None, "project": "harbor"},
            ],
        }
    )
    assert [(one.memory.claim, one.memory.type) for one in found.candidates] == [
        ("Never push to main.", "user_preference"),
        ("Retries double the load.", "semantic"),
    ]
    assert [(one.key, one.reason) for one in found.skipped] == [
        ("directives 2", "not active"),
        ("session_summaries 2", "it says nothing"),
    ]


@given(
    st.dictionaries(
        st.sampled_from([*ROW, "text", "content", "learned", "status"]),
        st.one_of(st.none(), st.integers(), st.floats(), st.text(max_size=30), st.binary(max_size=5), st.just("[1,")),
    )
)
def test_a_row_of_any_shape_is_taken_or_left_out_with_a_reason(row: dict[str, Any]) -> None:
    found = read_claude_mem({"observations": [row], "directives": [row], "session_summaries": [row]})
    assert len(found.candidates) + len(found.skipped) == 3
    assert all(one.memory.claim.strip() for one in found.candidates)
