"""A quote is taken where it stands verbatim and nothing of it is hidden; else what is most like it is found."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fabula.kernel.records import Block, Record
from fabula.record.quoting.nearest import nearest_passage
from fabula.record.quoting.texts import JOINT, parts_of
from fabula.record.quoting.verbatim import Place, locate, occurrences

pieces = st.sampled_from(["a ", "b", " c ", "<private>", "</private>", "\n", "ab", "é"])
texts = st.lists(pieces, max_size=10).map("".join)


def record(*said: str) -> Record:
    return Record("u", "s", "reply", "assistant", 0, 0, blocks=[Block("text", text) for text in said])


@given(st.lists(texts, max_size=3), st.lists(pieces, min_size=1, max_size=3).map("".join))
def test_a_quote_that_is_taken_stands_there_and_is_shown(said: list[str], quote: str) -> None:
    parts = parts_of(record(*said))
    whole = JOINT.join(part.text for part in parts)
    place = locate(parts, quote)
    if isinstance(place, Place):
        assert whole[place.start : place.end] == quote
        assert quote in parts[place.part].shown
        hidden = parts[place.part].hidden
        offset = parts[place.part].offset
        assert all(place.end <= span.start + offset or span.end + offset <= place.start for span in hidden)
    elif place is None:
        assert not any(quote in part.text for part in parts)
    else:
        assert any(quote in part.text for part in parts)


@given(st.text("ab", max_size=12), st.text("ab", max_size=3))
def test_occurrences_are_all_there_are(text: str, quote: str) -> None:
    found = list(occurrences(text, quote))
    assert found == [at for at in range(len(text)) if quote and text.startswith(quote, at)]


@given(st.lists(texts, max_size=3), texts)
def test_the_nearest_passage_is_verbatim_and_short(said: list[str], quote: str) -> None:
    passage = nearest_passage(said, quote)
    assert len(passage) <= 400
    assert not passage or any(passage in text for text in said)


@given(st.text("abc \n", min_size=1, max_size=30))
def test_a_text_with_other_blanks_is_nearest_to_itself(text: str) -> None:
    spaced = " ".join(text.split())
    if spaced:
        assert " ".join(nearest_passage([text], spaced).split()) == spaced


def test_the_best_passage_of_several_is_found_and_unlike_words_find_nothing() -> None:
    said = ["one two three", "zero The Clock is read once per request, more", "the clock"]
    assert nearest_passage(said, "the clock is read twice per request") == "The Clock is read once per request"
    assert nearest_passage(said, "purple elephants marching") == ""
    assert nearest_passage([], "x") == nearest_passage(said, "") == ""


def test_blocks_that_say_nothing_are_no_parts() -> None:
    whole = record("one", "", "two")
    whole.blocks.append(Block("image", "three"))
    whole.blocks.append(Block("call", tool="Bash", input={"command": "ls -l", "nested": {"path": "/x"}}))
    assert [part.text for part in parts_of(whole)] == ["one", "two", "command: ls -l\nnested:\n  path: /x"]
    assert [part.offset for part in parts_of(whole)] == [0, 5, 10]
