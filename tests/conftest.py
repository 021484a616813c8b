"""What every test shares: a home that is not the user's, and a way to call the command line."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from fabula.testing.outcome import Outcome

# machines are busy: how long an example takes says nothing of what it tests; a change is judged by the same examples
# each time (.ci/run), while a developer's runs look for new ones
settings.register_profile(
    "fabula",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("FABULA_SAME_EXAMPLES")),
)
settings.load_profile("fabula")

_FOREIGN = (
    "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "OPENCODE_DB",
    "FABULA_DISABLE", "FABULA_DEBUG", "NO_COLOR", "GIT_DIR",
)  # fmt: skip


@pytest.fixture(scope="session", autouse=True)
def _foreign_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Point everything that names a home at an empty folder, so that no test meets the user's own data."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        patch.setenv("USERPROFILE", str(home))
        patch.setenv("FABULA_HOME", str(home / ".fabula"))
        for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
            patch.setenv(variable, str(home / variable.lower()))
        for variable in _FOREIGN:
            patch.delenv(variable, raising=False)
        yield


@pytest.fixture
def fabula(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., Outcome]:
    """Call the command line in this process, in an empty working directory with an empty ``FABULA_HOME``."""
    from fabula.cli.main import main

    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "fabula-home"))
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)

    def call(*words: str) -> Outcome:
        capsys.readouterr()
        status = main(words)
        captured = capsys.readouterr()
        return Outcome(status, captured.out, captured.err)

    return call
