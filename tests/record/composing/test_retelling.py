"""Another agent's thread as text turns: everything that was said, by whom it was said."""

from __future__ import annotations

from fabula.hosts.claude.composing import ClaudeComposer
from fabula.kernel.records import Block, Kind, Record
from fabula.record.composing.retelling import ASIDE, SILENT, THOUGHTS, retell
from fabula.record.loader import Loaded, Row


def loaded(number: int, kind: Kind, *given: Block) -> Loaded:
    uid = f"u{number}"
    record = Record(uid, "s", kind, "", number, 1, blocks=list(given))
    return Loaded(
        Row(number, uid, 1, 1, f"u{number - 1}", "", 1, number, 1, kind, "", number, 0), record, b"{}", "live"
    )


def test_each_record_says_its_text_in_its_role_and_the_rest_is_counted() -> None:
    chosen = retell(
        [
            loaded(1, "prompt", Block("text", "Look."), Block("image")),
            loaded(2, "thought", Block("thought", "Hm.")),
            loaded(3, "reply", Block("text", "I look.")),
            loaded(4, "call", Block("call", "", "ls", "t", {"path": "/p"})),
            loaded(5, "result", Block("result", "files", tool_id="t", images=1)),
            loaded(
                6, "reply", Block("text", "Both."), Block("call", "raw", "cat", "t2"), Block("result", "x", failed=True)
            ),
            loaded(7, "notice", Block("text", "Injected.")),
            loaded(8, "reply"),
        ],
        ClaudeComposer(),
    )
    said = [
        (
            copied.uid,
            copied.value["type"],
            copied.value["message"]["content"][0]["text"],
            copied.value["message"].get("id"),
        )
        for copied in chosen.records
    ]
    assert said == [
        ("u1", "user", "Look.\n\n[image]", None),
        ("u3", "assistant", "I look.", "u3"),
        ("u4", "assistant", "[tool_use ls]\npath: /p", "u3"),
        ("u5", "user", "[tool_result]\nfiles\n[image]", None),
        ("u6", "assistant", "Both.\n\n[tool_use cat]\nraw\n\n[tool_result failed]\nx", "u6"),
    ]
    assert chosen.left_out == {ASIDE: 1, SILENT: 1, THOUGHTS: 1}
