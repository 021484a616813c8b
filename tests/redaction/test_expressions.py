"""RE2's language made Python's."""

from __future__ import annotations

import re

import pytest

from fabula.redaction.expressions import any_of, translated
from fabula.redaction.rules import entropy


@pytest.mark.parametrize(
    ("source", "matches", "misses"),
    [
        (r"\b(p8e-(?i)[a-z]{3})(?:;|$)", "p8e-AbC", "P8E-abc"),
        (r"a(?i)b", "aB", "Ab"),
        (r"(?i)abc", "ABC", "abd"),
        (r"x\z", "x", "x\n"),
        (r"^[[:alnum:]]{3}$", "a1B", "a_b"),
        (r"[(?i)]{4}", "(?i)", "abcd"),
        (r"(a(?i)b)c", "aBc", "aBC"),
        (r"(?i)[\w.-]{0,50}?(?:okta)=", "OKTA=", "oktb="),
        (r"[\w.-]{0,50}?(?i:[\w.-]{0,50}?(?:(?-i:Okta)))=", "Okta=", "OKTA="),
        (r"\((?i)a\)", "(A)", "A"),
    ],
)
def test_an_expression_means_the_same_after_translation(source: str, matches: str, misses: str) -> None:
    expression = re.compile(translated(source))
    assert expression.search(matches)
    assert not expression.search(misses)


def test_one_expression_finds_any_of_many_words() -> None:
    words = ["api", "apikey", "key", "s.", "a+b"]
    expression = re.compile(any_of(words))
    for word in words:
        assert expression.search(f"--{word}--")
    assert not expression.search("none of them")


def test_entropy_is_counted_in_bits_a_character() -> None:
    assert entropy("") == 0
    assert entropy("aaaa") == 0
    assert entropy("abcd") == 2
