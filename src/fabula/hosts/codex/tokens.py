"""Tokens that Codex says a response took. Its input count includes what came from the cache: here it does not. Pure."""

from __future__ import annotations

from typing import Any

from fabula.hosts.fields import count_of
from fabula.kernel.records import Usage

_FIELDS = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens")


def usage(response: str, model: str, counts: dict[str, Any]) -> Usage:
    """Return the usage of one response from the host's counts."""
    total, cached, written, output = (count_of(counts, field) for field in _FIELDS)
    return Usage(response, model, max(total - cached - written, 0), output, cached, written)


def difference(now: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """Return what one response took, from two running totals."""
    return {field: max(count_of(now, field) - count_of(before, field), 0) for field in _FIELDS}


def total_key(totals: dict[str, Any]) -> str:
    """Name a response by the running totals it led to: the same after the host repeats the count."""
    return "-".join(str(count_of(totals, field)) for field in _FIELDS)


def is_empty(counts: dict[str, Any]) -> bool:
    """Say whether nothing was counted."""
    return not any(count_of(counts, field) for field in _FIELDS)
