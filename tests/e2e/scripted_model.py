"""A scripted model on loopback: a real coding agent runs against it with no network and no model.

    python scripted_model.py SCENARIO.json PORT

It answers Anthropic Messages (Claude Code) and OpenAI Responses (Codex), streaming or not. A scenario is a list of
rules, tried in order: ``{"match": REGEX, "turns": [[BLOCK, …], …]}``. The newest user message picks the rule, the count
of model turns since then the turn (the last one repeats); without a rule the answer is "ok". A block is
``{"text": …}``, ``{"thinking": …}`` or ``{"tool": NAME, "input": {…}}``. Nothing is kept between requests: each carries
its conversation, so resumed sessions and subagents need no state here.
"""

from __future__ import annotations

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import uuid4

Block = dict[str, Any]
Event = tuple[str, dict[str, Any]]

_INJECTED = ("<system-reminder>", "<environment_context>", "<user_instructions>", "<skills_instructions>")


def new_id(prefix: str) -> str:
    """Return an identifier that no other run has used: a session that is resumed must not meet one twice."""
    return f"{prefix}_{uuid4().hex[:24]}"


# ── which turn of which rule ────────────────────────────────────────
def choose(rules: list[dict[str, Any]], said: str, turn: int) -> list[Block]:
    """Return the blocks that the scenario gives as the answer number ``turn`` to ``said``."""
    for rule in rules:
        if re.search(rule["match"], said, re.DOTALL):
            turns: list[list[Block]] = rule["turns"]
            return turns[min(turn, len(turns) - 1)]
    return [{"text": "ok"}]


def position(steps: list[tuple[str, str]]) -> tuple[str, int]:
    """Return the newest user text and how many model turns followed it; one turn may be several items in a row."""
    said, turn, before = "", 0, ""
    for who, text in steps:
        if who == "user" and text and not text.lstrip().startswith(_INJECTED):
            said, turn = text, 0
        elif who == "model" and before != "model":
            turn += 1
        before = who
    return said, turn


def messages_steps(body: dict[str, Any]) -> list[tuple[str, str]]:
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
        own = [text for text in texts if not text.lstrip().startswith(_INJECTED)]
        answers = any(block.get("type") == "tool_result" for block in blocks)
        steps.append(("tool", "") if answers else ("user", "\n".join(own)))
    return steps


def responses_steps(body: dict[str, Any]) -> list[tuple[str, str]]:
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


# ── the two protocols ───────────────────────────────────────────────
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


# ── the server ──────────────────────────────────────────────────────
class Model(BaseHTTPRequestHandler):
    """Answers every request from ``rules``."""

    protocol_version = "HTTP/1.1"
    rules: list[dict[str, Any]] = []  # noqa: RUF012 - set once before the server starts

    def log_message(self, *_: Any) -> None:
        """Say nothing: the client's own output is what matters."""

    def do_HEAD(self) -> None:
        """Answer a probe."""
        self._whole({})

    def do_GET(self) -> None:
        """List the one model."""
        self._whole({"data": [{"id": "scripted", "object": "model"}], "models": []})

    def do_POST(self) -> None:
        """Answer as the scenario says."""
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        body = json.loads(raw or b"{}")
        path = self.path.split("?")[0]
        model = str(body.get("model"))
        if path.endswith("count_tokens"):
            self._whole({"input_tokens": 100})
        elif path.endswith("/messages"):
            message = anthropic_message(model, choose(self.rules, *position(messages_steps(body))))
            self._answer(body, message, anthropic_events(message))
        elif path.endswith("/responses"):
            whole = response(model, choose(self.rules, *position(responses_steps(body))))
            self._answer(body, whole, response_events(whole))
        else:
            self._whole({"error": {"type": "not_found_error", "message": "no such endpoint"}}, status=404)

    def _answer(self, body: dict[str, Any], whole: dict[str, Any], events: list[Event]) -> None:
        if not body.get("stream"):
            self._whole(whole)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for name, data in events:
            raw = f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(raw), raw))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def _whole(self, value: dict[str, Any], *, status: int = 200) -> None:
        raw = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(raw)


def main() -> None:
    """Serve the scenario named on the command line until the process is ended."""
    Model.rules = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Model).serve_forever()


if __name__ == "__main__":
    main()
