"""Generated memories about services, the same for every side of a comparison: memory ``i`` is a function of ``i``.

About 1.3 kB a file: a claim and one to three paragraphs, two tags, one entity, four workspaces, eight types. Queries
are five words of a stored claim in any order.
"""

from __future__ import annotations

import random
from typing import Any

TOPICS = (
    "checkout", "billing", "search", "ingest", "auth", "deploy", "index", "cache", "queue", "gateway", "ledger",
    "session", "replica", "scheduler", "exporter", "webhook", "profile", "catalog", "router", "storage",
)  # fmt: skip
VERBS = (
    "drains", "rejects", "retries", "drops", "buffers", "rewrites", "signs", "throttles", "replays", "compacts",
    "shards", "mirrors", "locks", "times out", "deduplicates",
)  # fmt: skip
NOUNS = (
    "connection pool", "write-ahead log", "lease token", "retry budget", "health probe", "schema migration",
    "feature flag", "cold start", "dead letter topic", "rate limiter", "tenant boundary", "checksum table",
    "bloom filter", "backfill job", "snapshot", "canary group", "audit trail", "trace span", "cursor", "watermark",
)  # fmt: skip
CONDITIONS = (
    "after a failover", "when the primary is read only", "under a partial outage", "before the first request",
    "if the clock skews", "once the window closes", "during a blue green switch", "when memory pressure rises",
    "after a rebase", "on a fresh clone",
)  # fmt: skip
TYPES = (
    "semantic", "procedural", "episodic", "agent_insight", "user_preference", "error_pattern", "verdict", "precedent",
)  # fmt: skip
WORKSPACES = ("alpha", "beta", "gamma", "delta")
_SEED = 20261130


def memory(number: int) -> dict[str, Any]:
    """Return one memory as a line of a batch."""
    draw = random.Random(_SEED * 1_000_003 + number)
    topic, verb, noun, condition = (draw.choice(words) for words in (TOPICS, VERBS, NOUNS, CONDITIONS))
    limit = draw.randint(2, 9999)
    claim = (
        f"The {topic} service {verb} the {noun} {condition} and the observed limit was {limit} units in run {number}."
    )
    paragraphs = [" ".join(_sentence(draw) for _ in range(draw.randint(2, 4))) for _ in range(draw.randint(1, 3))]
    return {
        "op": "write", "title": f"{topic} {noun} {verb} {number}", "type": draw.choice(TYPES),
        "body": "\n\n".join([claim, *paragraphs]), "tag": [topic, noun.split()[0]], "entity": [f"service:{topic}"],
        "workspace": draw.choice(WORKSPACES),
    }  # fmt: skip


def _sentence(draw: random.Random) -> str:
    what = f"{draw.choice(TOPICS)} {draw.choice(NOUNS)} {draw.choice(VERBS)} {draw.choice(CONDITIONS)}"
    return f"We saw the {what}, roughly {draw.randint(1, 900)} times in {draw.randint(1, 60)} minutes."


def queries(many: int, memories: int, seed: int = 7) -> list[str]:
    """Return queries about the first so many memories."""
    draw = random.Random(seed)
    return [" ".join(draw.sample(memory(draw.randrange(memories))["body"].split()[1:14], 5)) for _ in range(many)]
