"""The wire protocols that coding agents speak to a model: what a request has said so far, and an answer in its form.

Anthropic Messages (Claude Code), OpenAI Responses (Codex), OpenAI Chat (OpenCode, Kimi, Pi) and Gemini (Gemini CLI).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple
from uuid import uuid4

Block = dict[str, Any]
Body = dict[str, Any]
Event = tuple[str, Any]  # the event's name, "" where the protocol has none, and its data
Steps = list[tuple[str, str]]  # who (user, model, tool) and what a user said

INJECTED = (
    *("<system-reminder>", "<environment_context>", "<user_instructions>", "<skills_instructions>"),
    *("<session_context>", "<turn-context>"),
)


class Protocol(NamedTuple):
    """How one protocol reads a request's conversation, and forms an answer whole and as a stream."""

    steps: Callable[[Body], Steps]
    whole: Callable[[str, list[Block]], Body]
    events: Callable[[Body], Iterable[Event]]


def new_id(prefix: str) -> str:
    """Return an identifier that no other run has used: a session that is resumed must not meet one twice."""
    return f"{prefix}_{uuid4().hex[:24]}"


# ── what was said ───────────────────────────────────────────────────
def messages_steps(body: Body) -> Steps:
    """Read the conversation out of an Anthropic request."""
    steps = []
    for message in body.get("messages", []):
        if message.get("role") == "assistant":
            steps.append(("model", ""))
        if message.get("role") != "user":
            continue
        content = message.get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
        texts = [block["text"] for block in blocks if block.get("type") == "text"]
        own = [text for text in texts if not text.lstrip().startswith(INJECTED)]
        answers = any(block.get("type") == "tool_result" for block in blocks)
        steps.append(("tool", "") if answers else ("user", "\n".join(own)))
    return steps


def responses_steps(body: Body) -> Steps:
    """Read the conversation out of an OpenAI Responses request."""
    items = body.get("input", [])
    steps = []
    for item in items if isinstance(items, list) else [{"role": "user", "content": [{"text": items}]}]:
        kind = str(item.get("type"))
        if kind.endswith("_output"):
            steps.append(("tool", ""))
        elif kind.endswith("_call") or item.get("role") == "assistant":
            steps.append(("model", ""))
        elif item.get("role") == "user":
            parts = item.get("content") or []
            steps.append(("user", "\n".join(part.get("text", "") for part in parts if isinstance(part, dict))))
    return steps


def chat_steps(body: Body) -> Steps:
    """Read the conversation out of an OpenAI chat request."""
    names = {"assistant": "model", "tool": "tool", "user": "user"}
    messages = [message for message in body.get("messages", []) if message.get("role") in names]
    return [(names[message["role"]], _plain(message.get("content"))) for message in messages]


def gemini_steps(body: Body) -> Steps:
    """Read the conversation out of a Gemini request."""
    steps = []
    for message in body.get("contents", []):
        parts = message.get("parts") or []
        answers = any("functionResponse" in part for part in parts)
        who = "model" if message.get("role") == "model" else "tool" if answers else "user"
        steps.append((who, _plain(parts)))
    return steps


def _plain(content: Any) -> str:
    """Return the texts that a person wrote in a message's content, whatever its form."""
    parts = content if isinstance(content, list) else [{"text": content or ""}]
    texts = [part.get("text") or "" for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if not text.lstrip().startswith(INJECTED))


# ── an answer ───────────────────────────────────────────────────────
def anthropic_message(model: str, blocks: list[Block]) -> dict[str, Any]:
    """Return a whole Anthropic message."""
    content: list[dict[str, Any]] = []
    for block in blocks:
        if "tool" in block:
            content.append({"type": "tool_use", "id": new_id("toolu"), "name": block["tool"], "input": block["input"]})
        elif "thinking" in block:
            content.append({"type": "thinking", "thinking": block["thinking"], "signature": "c2ln"})
        else:
            content.append({"type": "text", "text": block["text"]})
    stop = "tool_use" if any(part["type"] == "tool_use" for part in content) else "end_turn"
    usage = {"input_tokens": 100, "output_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    head = {"id": new_id("msg"), "type": "message", "role": "assistant", "model": model}
    return {**head, "content": content, "stop_reason": stop, "stop_sequence": None, "usage": usage}


def anthropic_events(message: dict[str, Any]) -> list[Event]:
    """Return the message as the events of a stream."""
    events: list[Event] = [("message_start", {"message": {**message, "content": [], "stop_reason": None}})]
    for index, part in enumerate(message["content"]):
        if part["type"] == "text":
            start, deltas = {**part, "text": ""}, [{"type": "text_delta", "text": part["text"]}]
        elif part["type"] == "thinking":
            start = {**part, "thinking": "", "signature": ""}
            signature = {"type": "signature_delta", "signature": part["signature"]}
            deltas = [{"type": "thinking_delta", "thinking": part["thinking"]}, signature]
        else:
            start = {**part, "input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": json.dumps(part["input"])}]
        events.append(("content_block_start", {"index": index, "content_block": start}))
        events += [("content_block_delta", {"index": index, "delta": delta}) for delta in deltas]
        events.append(("content_block_stop", {"index": index}))
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events.append(("message_delta", {"delta": delta, "usage": message["usage"]}))
    events.append(("message_stop", {}))
    return events


def response(model: str, blocks: list[Block]) -> dict[str, Any]:
    """Return a whole OpenAI response."""
    output: list[dict[str, Any]] = []
    for block in blocks:
        if "tool" in block:
            fields = {"id": new_id("fc"), "call_id": new_id("call"), "name": block["tool"]}
            output.append({"type": "function_call", **fields, "arguments": json.dumps(block["input"])})
        elif "text" in block:
            content = [{"type": "output_text", "text": block["text"], "annotations": []}]
            output.append({"type": "message", "id": new_id("msg"), "role": "assistant", "content": content})
    usage: dict[str, Any] = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    head = {"id": new_id("resp"), "object": "response", "status": "completed", "model": model}
    return {**head, "output": output, "usage": usage}


def response_events(whole: dict[str, Any]) -> list[Event]:
    """Return the response as the events of a stream."""
    events: list[Event] = [("response.created", {"response": {**whole, "status": "in_progress", "output": []}})]
    for index, item in enumerate(whole["output"]):
        events.append(("response.output_item.added", {"output_index": index, "item": item}))
        if item["type"] == "message":
            place = {"item_id": item["id"], "output_index": index, "content_index": 0}
            events.append(("response.output_text.delta", {**place, "delta": item["content"][0]["text"]}))
        events.append(("response.output_item.done", {"output_index": index, "item": item}))
    events.append(("response.completed", {"response": whole}))
    return events


def chat_completion(model: str, blocks: list[Block]) -> Body:
    """Return a whole chat completion."""
    text = "".join(block["text"] for block in blocks if "text" in block)
    calls = [
        {
            "id": new_id("call"),
            "type": "function",
            "function": {"name": block["tool"], "arguments": json.dumps(block["input"])},
        }
        for block in blocks
        if "tool" in block
    ]
    message = {"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    head = {"id": new_id("chatcmpl"), "object": "chat.completion", "created": 0, "model": model}
    return {**head, "choices": [choice], "usage": usage}


def chat_events(whole: Body) -> Iterable[Event]:
    """Return the completion as the chunks of a stream; text and calls come apart, as models send them."""
    choice = whole["choices"][0]
    chunk = {**whole, "object": "chat.completion.chunk", "usage": None}
    calls = [{"index": index, **call} for index, call in enumerate(choice["message"].get("tool_calls", ()))]
    said = {"role": "assistant", "content": choice["message"]["content"]}
    for delta in (said, {"tool_calls": calls}):
        if any(delta.get(name) for name in ("content", "tool_calls")):
            yield "", {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    yield "", {**chunk, "choices": [end], "usage": whole["usage"]}
    yield "", "[DONE]"


def gemini_answer(_model: str, blocks: list[Block]) -> Body:
    """Return a whole Gemini answer."""
    parts: list[dict[str, Any]] = []
    for block in blocks:
        if "tool" in block:
            parts.append({"functionCall": {"name": block["tool"], "args": block["input"]}})
        elif "thinking" in block:
            parts.append({"text": block["thinking"], "thought": True})
        else:
            parts.append({"text": block["text"]})
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}
    return {"candidates": [candidate], "usageMetadata": usage}


def gemini_events(whole: Body) -> Iterable[Event]:
    """Return the answer as a stream of one chunk."""
    yield "", whole


MESSAGES = Protocol(messages_steps, anthropic_message, anthropic_events)
RESPONSES = Protocol(responses_steps, response, response_events)
CHAT = Protocol(chat_steps, chat_completion, chat_events)
GEMINI = Protocol(gemini_steps, gemini_answer, gemini_events)


def protocol_of(path: str) -> Protocol | None:
    """Return the protocol whose endpoint a path is."""
    ends = {"/messages": MESSAGES, "/responses": RESPONSES, "/chat/completions": CHAT, "GenerateContent": GEMINI}
    ends[":generateContent"] = GEMINI
    return next((protocol for end, protocol in ends.items() if path.endswith(end)), None)


def frame(event: Event) -> bytes:
    """Return an event of a stream as server-sent bytes."""
    name, data = event
    if name:
        return f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode()
    return f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()
