"""Commands that people and agents are told to run: an id out of a transcript is one word of them, whatever it says."""

from __future__ import annotations


def record_command(verb: str, target: str) -> str:
    """Return ``fabula record VERB TARGET``, safe to be given to a shell."""
    end_of_flags = "-- " if target.startswith("-") else ""
    return f"fabula record {verb} {end_of_flags}{_quoted(target)}"


def _quoted(word: str) -> str:
    if word.isascii() and word.replace("-", "").replace("_", "").isalnum():  # as nearly every id
        return word
    from shlex import quote

    return quote(word)
