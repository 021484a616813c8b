from __future__ import annotations

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.search.identifiers import MAXIMUM_WORD, expand, name_parts, pairs, unspaced_runs

UNSPACED_SAMPLES = "".join(map(chr, [*range(0x0E01, 0x0E3B), *range(0x3041, 0x3097), *range(0x4E00, 0x4E80)]))


@pytest.mark.parametrize(
    ("text", "extra"),
    [
        ("parseConfig", "parse Config"),
        ("HTTPServer", "HTTP Server"),
        ("call getUserName() twice: getUserName", "get User Name"),
        ("XMLHttpRequest", "XML Http Request"),
        ("parse_config in src/a/b.py", ""),
        ("Plain English Words", ""),
        ("", ""),
        ("naïve fooBar", "foo Bar"),
    ],
)
def test_camel_case_words_gain_their_parts_and_plain_text_gains_nothing(text: str, extra: str) -> None:
    assert expand(text) == extra


def test_encoded_data_is_not_taken_for_a_name() -> None:
    assert expand("aB" * MAXIMUM_WORD) == ""


def test_the_parts_of_a_hostile_text_are_bounded() -> None:
    assert len(expand(" ".join(f"aB{index}" for index in range(50_000)))) < 20_000
    assert len(expand("。".join(chr(0x4E00 + i % 9000) + chr(0x4E01 + i // 9000) for i in range(20_000)))) < 20_000


def test_a_run_of_han_or_kana_gains_its_pairs_and_its_last_character() -> None:
    assert expand("東京タワー。猫") == "東京 京タ タワ ワー ー"


def test_thai_vowel_signs_are_left_out_of_pairs() -> None:
    assert unspaced_runs("กำลัง") == ["กำลง"]
    assert pairs("กำลง") == ["กำ", "ำล", "ลง"]


def test_a_plain_word_is_its_own_part() -> None:
    assert name_parts("config") == ["config"]


@given(st.text(alphabet=UNSPACED_SAMPLES, min_size=2, max_size=30))
def test_every_pair_is_exactly_one_token_of_the_index(text: str) -> None:
    tokenize = apsw.Connection(":memory:").fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])
    words = expand(text).split()
    assert len(tokenize(" ".join(words).encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None)) == len(words)


@given(st.text(max_size=200))
def test_any_text_can_be_expanded(text: str) -> None:
    assert isinstance(expand(text), str)
