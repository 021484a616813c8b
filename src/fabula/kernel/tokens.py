"""Token estimates: four characters a token, the field's rule of thumb; budgets are kept in these units."""

from __future__ import annotations

CHARACTERS_PER_TOKEN = 4


def estimate_tokens(characters: int) -> int:
    """Estimate the tokens of a text of that many characters."""
    return (characters + CHARACTERS_PER_TOKEN - 1) // CHARACTERS_PER_TOKEN


def budget_characters(tokens: int) -> int:
    """How many characters a token budget allows."""
    return tokens * CHARACTERS_PER_TOKEN
