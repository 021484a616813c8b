"""The coding agents, one row each: exact version, how it is pointed at the model and called, where it writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from transcripts import DatabaseSession, FileTranscript, Transcript

#: The Node that newer clients need, from npm like them.
NODE = ("node", "22.23.3")


class Setup(NamedTuple):
    """How one client is installed, configured, called, resumed and read."""

    package: str  # {machine} is x64 or arm64
    version: str
    program: str  # below node_modules, with {machine} too
    configure: Callable[[Path, str], dict[str, str]]  # (home, the model's address) -> environment
    arguments: Callable[[str], list[str]]  # of a prompt in a new session
    resumed: Callable[[str, str], list[str]]  # of (session, prompt)
    opener: tuple[str, ...]  # the command that opens a session, before its id
    transcripts: Callable[[Path], list[Transcript]]
    newer_node: bool = False


# ── Claude Code ─────────────────────────────────────────────────────
def _claude_environment(_home: Path, url: str) -> dict[str, str]:
    quiet = ["DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER", "IS_SANDBOX"]
    quiet += ["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"]
    return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none", **dict.fromkeys(quiet, "1")}


_CLAUDE = ["--permission-mode", "bypassPermissions", "--output-format", "json"]


# ── Codex ───────────────────────────────────────────────────────────
def _codex_environment(home: Path, url: str) -> dict[str, str]:
    text = (
        'model = "gpt-5.3-codex"\nmodel_provider = "scripted"\n\n[model_providers.scripted]\nname = "scripted"\n'
        f'base_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "SCRIPTED_KEY"\n'
    )
    _write(home / ".codex" / "config.toml", text)
    return {"SCRIPTED_KEY": "none"}


_CODEX = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]


# ── Gemini CLI ──────────────────────────────────────────────────────
def _gemini_environment(home: Path, url: str) -> dict[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
    }
    _write(home / ".gemini" / "settings.json", settings)
    return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url}


_GEMINI = ["--skip-trust", "-y", "-m", "gemini-2.5-flash"]


# ── OpenCode ────────────────────────────────────────────────────────
def _opencode_environment(home: Path, url: str) -> dict[str, str]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "scripted",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"scripted": {"name": "scripted", "tool_call": True, "limit": {"context": 100_000, "output": 8000}}},
    }
    models = {"model": "scripted/scripted", "small_model": "scripted/scripted"}
    config = {"autoupdate": False, "share": "disabled", **models, "provider": {"scripted": provider}}
    _write(home / ".config" / "opencode" / "opencode.json", config)
    return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}


# ── Kimi Code ───────────────────────────────────────────────────────
def _kimi_environment(home: Path, url: str) -> dict[str, str]:
    text = (
        'default_model = "scripted"\ntelemetry = false\n\n[providers.scripted]\ntype = "openai"\n'
        f'base_url = "{url}/v1"\napi_key = "none"\n\n'
        '[models.scripted]\nprovider = "scripted"\nmodel = "scripted"\nmax_context_size = 100000\n'
        'capabilities = ["tool_use"]\n'
    )
    _write(home / ".kimi-code" / "config.toml", text)
    return {}


# ── Pi ──────────────────────────────────────────────────────────────
def _pi_environment(home: Path, url: str) -> dict[str, str]:
    provider = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "none", "models": [{"id": "scripted"}]}
    _write(home / ".pi" / "agent" / "models.json", {"providers": {"scripted": provider}})
    return {"PI_OFFLINE": "1", "PI_TELEMETRY": "0"}


_PI = ["--model", "scripted/scripted", "-p"]


# ── Copilot CLI ─────────────────────────────────────────────────────
def _copilot_environment(_home: Path, url: str) -> dict[str, str]:
    provider = {"COPILOT_PROVIDER_BASE_URL": f"{url}/v1", "COPILOT_PROVIDER_TYPE": "openai"}
    return {"COPILOT_OFFLINE": "true", "COPILOT_MODEL": "scripted", "COPILOT_AUTO_UPDATE": "false", **provider}


# ── Goose ───────────────────────────────────────────────────────────
def _goose_environment(_home: Path, url: str) -> dict[str, str]:
    model = {"GOOSE_PROVIDER": "openai", "GOOSE_MODEL": "scripted", "OPENAI_HOST": url, "OPENAI_API_KEY": "none"}
    return {"GOOSE_MODE": "auto", "GOOSE_DISABLE_KEYRING": "1", **model}


# ── where they write ────────────────────────────────────────────────
def _files(pattern: str) -> Callable[[Path], list[Transcript]]:
    return lambda home: [FileTranscript(path) for path in sorted(home.glob(pattern)) if path.is_file()]


def _opencode_sessions(home: Path) -> list[Transcript]:
    database = home / ".local" / "share" / "opencode" / "opencode.db"
    return list(DatabaseSession.all_in(database, "session", "message", "part"))


def _goose_sessions(home: Path) -> list[Transcript]:
    database = home / ".local" / "share" / "goose" / "sessions" / "sessions.db"
    return list(DatabaseSession.all_in(database, "sessions", "messages", "usage_ledger"))


def _write(path: Path, content: str | dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2), encoding="utf-8")


#: A version moves only after the checks pass on the new one.
SETUPS: dict[str, Setup] = {
    "claude": Setup(
        *("@anthropic-ai/claude-code", "2.1.197", "@anthropic-ai/claude-code-linux-{machine}/claude"),
        _claude_environment,
        lambda prompt: ["-p", prompt, *_CLAUDE],
        lambda session, prompt: ["-p", prompt, *_CLAUDE, "--resume", session],
        ("claude", "--resume"),
        _files(".claude/projects/**/*.jsonl"),
    ),
    "codex": Setup(
        *("@openai/codex", "0.171.0", ".bin/codex"),
        _codex_environment,
        lambda prompt: ["exec", *_CODEX, prompt],
        lambda session, prompt: ["exec", *_CODEX, "resume", session, prompt],
        ("codex", "resume"),
        _files(".codex/sessions/**/*.jsonl"),
    ),
    "gemini": Setup(
        *("@google/gemini-cli", "0.61.0", ".bin/gemini"),
        _gemini_environment,
        lambda prompt: [*_GEMINI, "-p", prompt],
        lambda session, prompt: [*_GEMINI, "--resume", session, "-p", prompt],
        ("gemini", "--resume"),
        _files(".gemini/tmp/*/chats/**/*.jsonl"),
    ),
    "opencode": Setup(
        *("opencode-ai", "1.18.33", "opencode-linux-{machine}/bin/opencode"),
        _opencode_environment,
        lambda prompt: ["run", prompt],
        lambda session, prompt: ["run", "--session", session, prompt],
        ("opencode", "--session"),
        _opencode_sessions,
    ),
    "kimi": Setup(
        *("@moonshot-ai/kimi-code", "2.1.0", ".bin/kimi"),
        _kimi_environment,
        lambda prompt: ["-p", prompt],
        lambda session, prompt: ["--session", session, "-p", prompt],
        ("kimi", "--session"),
        _files(".kimi-code/sessions/*/*/agents/*/wire.jsonl"),
        newer_node=True,
    ),
    "pi": Setup(
        *("@earendil-works/pi-coding-agent", "1.6.0", ".bin/pi"),
        _pi_environment,
        lambda prompt: [*_PI, prompt],
        lambda session, prompt: [*_PI, "--session", session, prompt],
        ("pi", "--session"),
        _files(".pi/agent/sessions/*/*.jsonl"),
        newer_node=True,
    ),
    "copilot": Setup(
        *("@github/copilot", "1.0.102", "@github/copilot-linux-{machine}/copilot"),
        _copilot_environment,
        lambda prompt: ["-p", prompt, "--allow-all-tools"],
        lambda session, prompt: ["-p", prompt, "--allow-all-tools", "--resume", session],
        ("copilot", "--resume"),
        _files(".copilot/session-state/*/events.jsonl"),
    ),
    "goose": Setup(
        *("@aaif/goose-binary-linux-{machine}", "1.52.0", "@aaif/goose-binary-linux-{machine}/bin/goose"),
        _goose_environment,
        lambda prompt: ["run", "--with-builtin", "developer", "-t", prompt],
        lambda session, prompt: ["run", "--resume", "--session-id", session, "-t", prompt],
        ("goose", "session", "--resume", "--session-id"),
        _goose_sessions,
    ),
}
