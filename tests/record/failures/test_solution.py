"""What was done between a failure and its end."""

from __future__ import annotations

from typing import Any

from fabula.kernel.records import Block, Kind, Record
from fabula.record.failures.solution import Step, steps
from fabula.record.reading.sentinels import stub


def record(kind: Kind, *blocks: Block) -> Record:
    return Record("u1", "s1", kind, "assistant", 0, 1, blocks=list(blocks), cwd="/w")


def call(tool: str, /, **given: Any) -> Record:
    return record("call", Block("call", tool=tool, tool_id="t", input=given))


def told(records: list[Record]) -> list[Step]:
    return steps(records, stub)


def test_commands_edits_and_words_are_told_and_reads_are_not() -> None:
    made = told([
        call("Read", file_path="/w/a.py"),
        call("Edit", file_path="a.py", old_string="one", new_string="two"),
        call("Bash", command="pip install pyyaml"),
        call("WebFetch", url="https://a"),
        record("reply", Block("text", "It was  not\ninstalled.")),
        record("thought", Block("thought", "hm")),
    ])  # fmt: skip
    assert [(step.kind, step.text, step.detail) for step in made] == [
        ("edit", "edit /w/a.py", "-one\n+two"),
        ("command", "pip install pyyaml", ""),
        ("words", "It was not installed.", ""),
    ]


def test_a_patch_tells_only_what_it_changes() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n same\n-old\n+new\n*** End Patch"
    (step,) = told([call("apply_patch", patch=patch)])
    assert (step.text, step.detail) == ("patch /w/a.py", "-old\n+new")


def test_long_edits_and_commands_are_cut() -> None:
    long = "\n".join(str(number) for number in range(50))
    (change,) = told([call("Edit", file_path="/a", old_string=long, new_string="x")])
    assert change.detail.endswith("more lines")
    assert change.detail.count("\n") == 12
    (command,) = told([call("Bash", command="x" * 1000)])
    assert len(command.text) == 300


def test_private_text_stays_hidden_where_the_mark_around_it_is_cut_off_or_unchanged() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n <private>\n-my street\n+my town\n </private>\n*** End Patch"
    (step,) = told([call("apply_patch", patch=patch)])
    assert "my" not in step.detail
    (words,) = told([record("reply", Block("text", "x" * 380 + "<private>my street</private>"))])
    assert "street" not in words.text
