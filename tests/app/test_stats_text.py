"""Counts, sizes and cost as text."""

from __future__ import annotations

from pathlib import Path

from fabula.app.record.stats import StatsRequest, stats
from fabula.cli.output import Out
from fabula.cli.render.stats import render
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession


def shown(home: RecordHome, request: StatsRequest) -> str:
    parts: list[bytes] = []
    out = Out(parts.append)
    render(stats(home.app, request), out)
    out.flush()
    return b"".join(parts).decode()


def test_everything_asked_for_is_written(tmp_path: Path) -> None:
    home = RecordHome(tmp_path / "home")
    for seed, model in (("one", "claude-sonnet-4-6"), ("two", "glm-4.7")):
        session = ClaudeSession(seed, model=model)
        session.prompt("go")
        session.reply("gone")
        home.save(session)
    text = shown(home, StatsRequest(usage=True, by="day", all=True))
    assert "2 sessions, 2 threads, 4 records" in text
    assert "by day" in text
    assert "is within the budget of" in text
    assert "prices of 20" in text
    assert "without a price, so not in the cost: glm-4.7" in text
    by_model = shown(home, StatsRequest(usage=True, by="model", all=True)).splitlines()
    assert next(line for line in by_model if line.strip().startswith("glm-4.7")).endswith("?")
    assert "0 sessions" in shown(home, StatsRequest())
