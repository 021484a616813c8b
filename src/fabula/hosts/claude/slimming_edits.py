"""What slimming takes out of a line of a Claude Code transcript that stays, by category.

Each edit changes a decoded record in place and says how many pictures it took, ``None`` when it found nothing; what it
leaves is short enough that a second run finds nothing. ``is_error``, ``caller``, signed thinking and every field that
is not named here stay.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fabula.hosts.claude.fields import dict_of, text_of
from fabula.hosts.claude.slimming_facts import blocks_of
from fabula.kernel.commands import record_command
from fabula.record.reading.sentinels import consulted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fabula.hosts.claude.slimming_facts import Facts

MARK = "[removed by fabula prune: "
_LEAST = 240  # characters that are worth taking out: less is hardly more than the mark
_KEPT = 200  # of a text whose beginning says what it was about
_BEGINNINGS = frozenset(("command", "prompt", "description", "pattern", "query"))
_WHOLE = frozenset(("file_path", "path", "notebook_path", "url"))
_BODIES = ("old_string", "new_string", "content", "new_source", "edits")
#: What the person decided: the plan they agreed to, the answers they gave.
_DECISIONS = frozenset(("AskUserQuestion", "ExitPlanMode"))


def stub_results(value: dict[str, Any], facts: Facts) -> int | None:
    """Take the contents of tool results out."""
    return _stub(value, [block for block in blocks_of(value) if _is_result(block, facts)])


def stub_stale_reads(value: dict[str, Any], facts: Facts) -> int | None:
    """Take out the results of reads that a later read repeats."""
    return _stub(value, [block for block in blocks_of(value) if text_of(block.get("tool_use_id")) in facts.stale_reads])


def stub_inputs(value: dict[str, Any], facts: Facts) -> int | None:  # noqa: ARG001 - the form of every edit
    """Shorten the long texts of tool inputs; names, paths and short values stay, each of its type."""
    return _shorten(
        (block, _shortened(block["input"], ""))
        for block in _calls(value)
        if text_of(block.get("name")) not in _DECISIONS
    )


def stub_stale_edits(value: dict[str, Any], facts: Facts) -> int | None:
    """Shorten the bodies of edits and writes whose file a later one changed again."""
    return _shorten(
        (block, {key: _shortened(inner, key) if key in _BODIES else inner for key, inner in block["input"].items()})
        for block in _calls(value)
        if text_of(block.get("id")) in facts.stale_edits
    )


def remove_structured_result(value: dict[str, Any], facts: Facts) -> int | None:  # noqa: ARG001
    """Remove ``toolUseResult``, the client's second copy of a result; the id of a subagent that it names stays."""
    found = False
    for holder in (value, dict_of(value.get("message"))):
        if "toolUseResult" not in holder:
            continue
        agent = text_of(dict_of(holder["toolUseResult"]).get("agentId"))
        left = {"agentId": agent} if agent else None
        found = found or holder["toolUseResult"] != left
        del holder["toolUseResult"]
        if left:
            holder["toolUseResult"] = left
    return 0 if found else None


def remove_pictures(value: dict[str, Any], facts: Facts) -> int | None:  # noqa: ARG001
    """Put a word in the place of pictures and documents, in prompts and in results."""
    taken = 0
    results = [block for block in blocks_of(value) if block.get("type") == "tool_result"]
    for holder in (dict_of(value.get("message")), *results):
        content = holder.get("content")
        if not isinstance(content, list):
            continue
        for at, part in enumerate(content):
            stub = _picture_stub(part)
            if stub is not None:
                content[at] = stub
                taken += 1
    return taken or None


def consult_sentinels(value: dict[str, Any], facts: Facts) -> int | None:  # noqa: ARG001
    """Let recalled text be named in the place of being repeated."""
    found = False
    for name in ("message", "attachment"):
        if isinstance(value.get(name), dict):
            left = _consulted(value[name])
            found = found or left != value[name]
            value[name] = left
    return 0 if found else None


def remove_unsigned_thoughts(value: dict[str, Any], facts: Facts) -> int | None:  # noqa: ARG001
    """Remove thinking that bears no signature; signed thinking must stay as it is, or the session cannot go on."""
    message = dict_of(value.get("message"))
    content = message.get("content")
    if not isinstance(content, list) or not any(map(is_unsigned, content)):
        return None
    message["content"] = [part for part in content if not is_unsigned(part)]
    return 0


def is_unsigned(part: object) -> bool:
    """Whether a block is a thought without a signature."""
    return isinstance(part, dict) and part.get("type") == "thinking" and not part.get("signature")


#: Category → its edit, in the order in which they take.
EDITS: dict[str, Callable[[dict[str, Any], Facts], int | None]] = {
    "dup-reads": stub_stale_reads,
    "superseded": stub_stale_edits,
    "results": stub_results,
    "inputs": stub_inputs,
    "tool-use-result": remove_structured_result,
    "images": remove_pictures,
    "sentinels": consult_sentinels,
    "thinking": remove_unsigned_thoughts,
}


def _is_result(block: dict[str, Any], facts: Facts) -> bool:
    tool = facts.tools.get(text_of(block.get("tool_use_id")), "")
    return block.get("type") == "tool_result" and tool not in _DECISIONS


def _stub(value: dict[str, Any], results: list[dict[str, Any]]) -> int | None:
    pictures = [taken for block in results if (taken := _stub_result(block, value)) is not None]
    return sum(pictures) if pictures else None


def _stub_result(block: dict[str, Any], value: dict[str, Any]) -> int | None:
    """Put a word in the place of a result's content, naming the command that shows it."""
    content = block.get("content")
    if not isinstance(content, str | list):
        return None
    parts = [dict_of(part) for part in content] if isinstance(content, list) else []
    size = len(content) if isinstance(content, str) else len(json.dumps(content, ensure_ascii=False))
    # From references the client takes which tools were loaded.
    if size < _LEAST or any(part.get("type") == "tool_reference" for part in parts):
        return None
    uuid = text_of(value.get("uuid"))
    block["content"] = f"{MARK}{size:,} characters" + (f" — {record_command('block', uuid[:8])}]" if uuid else "]")
    return len([part for part in parts if part.get("type") == "image"])


def _calls(value: dict[str, Any]) -> list[dict[str, Any]]:
    return [b for b in blocks_of(value) if b.get("type") == "tool_use" and isinstance(b.get("input"), dict)]


def _shorten(pairs: Iterable[tuple[dict[str, Any], Any]]) -> int | None:
    """Give calls their shortened inputs; ``None`` when none is shorter."""
    found = False
    for block, left in list(pairs):
        found = found or left != block["input"]
        block["input"] = left
    return 0 if found else None


def _shortened(value: Any, key: str) -> Any:
    """Return a value of a tool's input with its long texts cut."""
    if isinstance(value, dict):
        return {name: _shortened(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_shortened(inner, key) for inner in value]
    if not isinstance(value, str) or key in _WHOLE or MARK in value:
        return value
    kept = value[:_KEPT] if key in _BEGINNINGS else ""
    if len(value) - len(kept) < _LEAST:
        return value
    return f"{kept}{' … ' if kept else ''}{MARK}{len(value) - len(kept):,} characters]"


def _picture_stub(part: object) -> dict[str, Any] | None:
    source = dict_of(dict_of(part).get("source"))
    kind = dict_of(part).get("type")
    data = text_of(source.get("data"))
    if kind not in ("image", "document") or source.get("type") != "base64" or len(data) < _LEAST:
        return None
    return {"type": "text", "text": f"{MARK}{kind}, {len(data):,} characters]"}


def _consulted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _consulted(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_consulted(inner) for inner in value]
    return consulted(value) if isinstance(value, str) else value
