"""What of a record is searched."""

from __future__ import annotations

import pytest

from fabula.kernel.records import Block, Kind, Record
from fabula.record.ingest.text import RESULT_LIMIT, searchable


def record(kind: Kind, *blocks: Block) -> Record:
    return Record("u", "s", kind, "user", 0, 1, blocks=list(blocks))


def text_of(kind: Kind, *blocks: Block) -> str:
    found = searchable(record(kind, *blocks))
    assert found is not None
    return "\n".join(filter(None, (found.prompt, found.reply, found.call, found.result, found.other)))


def test_each_role_has_its_column() -> None:
    found = searchable(record("prompt", Block("text", "typed")))
    assert found is not None
    assert (found.prompt, found.characters) == ("typed", 5)
    found = searchable(record("reply", Block("text", "said"), Block("thought", "pondered")))
    assert found is not None
    assert found.reply == "said\npondered"


def test_a_call_gives_its_name_and_every_text_of_its_arguments_but_no_numbers() -> None:
    given = {"command": "ls -la", "timeout": 4242, "edits": [{"old_string": "left", "new_string": "right"}]}
    assert text_of("call", Block("call", tool="MultiEdit", input=given)) == "MultiEdit\nls -la\nleft\nright"


def test_arguments_nested_without_end_are_followed_so_far_only() -> None:
    nested: dict[str, object] = {"deep": "bottom"}
    for _ in range(50):
        nested = {"in": nested}
    assert text_of("call", Block("call", tool="T", input=nested)) == "T"


def test_a_long_result_is_cut_and_says_so() -> None:
    found = searchable(record("result", Block("result", "x y " * RESULT_LIMIT)))
    assert found is not None
    assert (len(found.result), found.cut) == (RESULT_LIMIT, True)


def test_encoded_data_is_left_out_and_the_words_around_it_stay() -> None:
    blob = "QUJD" * 300
    assert text_of("result", Block("result", f"before {blob} after")).split() == ["before", "after"]


def test_recalled_text_is_cited_and_not_searched() -> None:
    found = searchable(
        record(
            "prompt",
            Block("text", 'a <historical_context session="s" thread="t" arcs="p7,p9">old</historical_context> b'),
        )
    )
    assert found is not None
    assert (found.prompt.split(), found.citations) == (["a", "b"], ("p7", "p9"))


def test_private_text_is_never_searched() -> None:
    assert "hunter2" not in text_of("prompt", Block("text", "use <private>hunter2</private> here"))


@pytest.mark.parametrize("kind", ["notice", "snapshot", "progress", "other", "boundary", "system"])
def test_what_the_host_injected_or_counts_is_not_searched(kind: Kind) -> None:
    assert searchable(record(kind, Block("text", "word"))) is None


def test_pictures_are_never_searched() -> None:
    assert text_of("prompt", Block("image", "iVBORw0KGgo"), Block("text", "look")) == "look"


def test_text_that_no_database_holds_is_made_valid() -> None:
    assert text_of("prompt", Block("text", "a\ud800b\0c")) == "a\ufffdb c"
