"""The verb ``record stats`` on a whole record."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.app.record.stats import StatsRequest, StatsResult, stats
from fabula.kernel.errors import FabulaError
from fabula.testing.record_home import RecordHome
from fabula.testing.rollouts import CodexRollout
from fabula.testing.transcripts import ClaudeSession


@pytest.fixture
def home(tmp_path: Path) -> RecordHome:
    home = RecordHome(tmp_path / "home")
    session = ClaudeSession("stats")
    session.prompt("think, then act")
    session.reply("done", thought="let me see")  # two records of one response
    session.tool("Bash", {"command": "make"}, "ok")
    home.save(session)
    rollout = CodexRollout("stats")
    rollout.begin()
    rollout.prompt("and you?")
    rollout.reply("me too")
    rollout.tokens(read=1000, written=100)
    rollout.save(home.folder / ".codex")
    return home


def count(home: RecordHome, **asked: object) -> StatsResult:
    return stats(home.app, StatsRequest(all=True, **asked))  # type: ignore[arg-type]


def test_counts_are_given_whole_and_by_host(home: RecordHome) -> None:
    result = count(home)
    assert (result.total.sessions, result.total.subagents) == (2, 0)
    assert [host.key for host in result.hosts] == ["claude", "codex"]
    assert sum(host.records for host in result.hosts) == result.total.records
    assert result.map.files >= 2
    assert result.costs is None


def test_sizes_stand_beside_their_budget(home: RecordHome) -> None:
    sizes = count(home).sizes
    assert sizes.vault_bytes > 0
    assert sizes.map_bytes > 0
    assert sizes.sealed_bytes > 0
    assert sizes.searchable_characters > 0
    assert sizes.within_budget


def test_each_response_costs_once_however_many_records_repeat_it(home: RecordHome) -> None:
    costs = count(home, usage=True).costs
    assert costs is not None
    claude = next(one for one in costs.summary.groups if one.key == "claude-sonnet-4-6")
    assert claude.responses == 2
    assert claude.cost == pytest.approx(2 * (12 * 3 + 220 * 15 + 18_000 * 0.3 + 640 * 3.75) / 1e6)
    assert costs.prices_date


def test_a_fork_s_copied_responses_are_not_paid_again(home: RecordHome) -> None:
    before = count(home, usage=True).costs
    session = ClaudeSession("stats")
    session.prompt("think, then act")
    session.reply("done", thought="let me see")
    home.save(session.fork("copy"))
    after = count(home, usage=True).costs
    assert before is not None
    assert after is not None
    assert after.summary.total.cost == before.summary.total.cost > 0


@pytest.mark.parametrize("by", ["day", "project", "host"])
def test_groups_add_up_to_the_whole(home: RecordHome, by: str) -> None:
    result = count(home, usage=True, by=by)
    assert sum(group.records for group in result.groups) == result.total.records
    assert result.costs is not None
    assert sum(one.responses for one in result.costs.summary.groups) == result.costs.summary.total.responses


def test_counts_by_model_are_asked_with_usage(home: RecordHome) -> None:
    with pytest.raises(FabulaError) as error:
        count(home, by="model")
    assert error.value.code == "ERR_USAGE"


def test_another_repository_is_not_counted(home: RecordHome) -> None:
    result = stats(home.app, StatsRequest())
    assert (result.total.sessions, result.total.records) == (0, 0)
    assert count(home, until=1).total.sessions == 0
