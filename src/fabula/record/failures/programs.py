"""The programs that a shell command can begin with, by what their name tells of the command. Data."""

from __future__ import annotations

_TRIVIAL = "cd export source . set echo mkdir pushd popd sleep true which pwd unset printf ulimit test [ then do if"
_WRAPPERS = "sudo time nohup env command exec npx bunx uvx stdbuf nice xvfb-run"
_INTERPRETERS = "python python3 node ruby bash sh zsh perl php deno bun tsx ts-node java pwsh"
_WITH_SUBCOMMAND = """
npm pnpm yarn cargo go git docker docker-compose podman make kubectl gradle gradlew mvn mix dotnet pip uv poetry rails
terraform gh just task bazel deno bun brew apt apt-get composer rake swift helm rustup tox nox
"""
_CHECKERS = """
pytest unittest jest vitest mocha ava tap playwright cypress rspec phpunit ruff mypy pyright eslint tsc prettier biome
black flake8 pylint clippy make gradle gradlew mvn mix tox nox cargo go npm pnpm yarn dotnet swift bazel just
"""

#: Commands that only prepare what follows.
TRIVIAL = frozenset(_TRIVIAL.split())
#: Programs that run the command after them.
WRAPPERS = frozenset(_WRAPPERS.split())
#: Programs that run the command after one more word: ``uv run``, ``python -m``.
PREFIXES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("uv", "poetry", "pdm", "pipenv", "hatch", "bundle", "rye", "pixi"), ("run", "exec")),
    **dict.fromkeys(("python", "python3"), ("-m",)),
}
#: Programs that run a script named by their first operand.
INTERPRETERS = frozenset(_INTERPRETERS.split())
#: Programs whose first operand is a command of their own.
WITH_SUBCOMMAND = frozenset(_WITH_SUBCOMMAND.split())
#: Programs that check everything when they are given nothing to check.
CHECKERS = frozenset(_CHECKERS.split())
