"""A scripted model on loopback: a real coding agent runs against it with no network and no model.

    python scripted_model.py SCENARIO.json PORT

It answers in the agents' own protocols (``protocols.py``), streaming or not. A scenario is a list of rules, tried in
order: ``{"match": REGEX, "turns": [[BLOCK, …], …]}``. The newest user message picks the rule, the count of model turns
since then the turn (the last one repeats); without a rule the answer is "ok". A block is ``{"text": …}``,
``{"thinking": …}`` or ``{"tool": NAME, "input": {…}}``. Nothing is kept between requests: each carries its
conversation, so resumed sessions and subagents need no state here. Every conversation is kept as a line of JSON in
``SCENARIO.requests.jsonl``.
"""

from __future__ import annotations

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from protocols import INJECTED, frame, protocol_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from protocols import Block, Event, Steps


def choose(rules: list[dict[str, Any]], said: str, turn: int) -> list[Block]:
    """Return the blocks that the scenario gives as the answer number ``turn`` to ``said``."""
    for rule in rules:
        if re.search(rule["match"], said, re.DOTALL):
            turns: list[list[Block]] = rule["turns"]
            return turns[min(turn, len(turns) - 1)]
    return [{"text": "ok"}]


def position(steps: Steps) -> tuple[str, int]:
    """Return the newest user text and how many model turns followed it; one turn may be several items in a row."""
    said, turn, before = "", 0, ""
    for who, text in steps:
        if who == "user" and text and not text.lstrip().startswith(INJECTED):
            said, turn = text, 0
        elif who == "model" and before != "model":
            turn += 1
        before = who
    return said, turn


# ── the server ──────────────────────────────────────────────────────
class Model(BaseHTTPRequestHandler):
    """Answers every request from ``rules``."""

    protocol_version = "HTTP/1.1"
    rules: list[dict[str, Any]] = []  # noqa: RUF012 - set once before the server starts
    log = Path()

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
        protocol = protocol_of(path)
        if path.endswith((":countTokens", "count_tokens")):
            self._whole({"input_tokens": 100, "totalTokens": 100})
        elif protocol is None:
            self._whole({"error": {"type": "not_found_error", "message": "no such endpoint"}}, status=404)
        else:
            with self.log.open("ab") as log:
                log.write(json.dumps(body).encode() + b"\n")
            blocks = choose(self.rules, *position(protocol.steps(body)))
            whole = protocol.whole(str(body.get("model")), blocks)
            if body.get("stream") or "stream" in path:
                self._stream(protocol.events(whole))
            else:
                self._whole(whole)

    def _stream(self, events: Iterable[Event]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in events:
            raw = frame(event)
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
    Model.log = Path(sys.argv[1]).with_suffix(".requests.jsonl")
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Model).serve_forever()


if __name__ == "__main__":
    main()
