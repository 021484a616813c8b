"""Settings: one table of keys, read from ``$FABULA_HOME/config.toml`` and the environment; nothing else decides.

A key has a type, a default and a meaning. The environment beats the file, the file beats the default. An unknown
key or a value of the wrong type is ``ERR_CONFIG``, naming the file, the key and the nearest name.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

KeyKind = Literal["bool", "int", "text", "choice", "path", "paths", "texts"]
Origin = Literal["default", "file", "environment"]


@frozen
class Key:
    """One setting. Paths begin with ``/``, ``~/``, ``$FABULA_HOME/`` or ``$XDG_DATA_HOME/`` (and its like)."""

    name: str
    kind: KeyKind
    default: Any
    meaning: str
    environment: str = ""
    choices: tuple[str, ...] = ()
    least: int = 0


KEYS: tuple[Key, ...] = (
    Key("enabled", "bool", True, "false switches everything off, as FABULA_DISABLE=1 does", "FABULA_DISABLE"),  # noqa: FBT003
    Key("off_projects", "paths", (), "projects in which Fabula stays off (written by `fabula off`)"),
    Key(
        "record.claude_roots",
        "paths",
        ("~/.claude", "$XDG_CONFIG_HOME/claude"),
        "Claude Code's folders, whose `projects` are read",
        "CLAUDE_CONFIG_DIR",
    ),
    Key("record.codex_home", "path", "~/.codex", "Codex's folder, whose `sessions` are read", "CODEX_HOME"),
    Key("record.gemini_home", "path", "~/.gemini", "Gemini CLI's folder, whose `tmp` is read", "GEMINI_CLI_HOME"),
    Key(
        "record.opencode_data",
        "path",
        "$XDG_DATA_HOME/opencode",
        "OpenCode's data folder, whose `storage` is read",
    ),
    Key(
        "record.opencode_database",
        "path",
        "$XDG_DATA_HOME/opencode/opencode.db",
        "OpenCode's database of sessions",
        "OPENCODE_DB",
    ),
    Key(
        "record.copilot_home",
        "path",
        "~/.copilot",
        "Copilot CLI's folder, whose `session-state` is read",
        "COPILOT_HOME",
    ),
    Key(
        "record.goose_data",
        "path",
        "$XDG_DATA_HOME/goose",
        "Goose's data folder, whose `sessions` are read",
        "GOOSE_PATH_ROOT",
    ),
    Key("record.cursor_home", "path", "~/.cursor", "Cursor's folder, whose `chats` are read", "CURSOR_DATA_DIR"),
    Key("record.kimi_home", "path", "~/.kimi-code", "Kimi Code's folder, whose `sessions` are read", "KIMI_CODE_HOME"),
    Key("record.kimi_cli_home", "path", "~/.kimi", "kimi-cli's folder, whose `sessions` are read", "KIMI_SHARE_DIR"),
    Key("record.pi_agent", "path", "~/.pi/agent", "Pi's folder, whose `sessions` are read", "PI_CODING_AGENT_DIR"),
    Key("record.pi_sessions", "paths", (), "further folders of Pi's sessions", "PI_CODING_AGENT_SESSION_DIR"),
    Key("record.vault_roots", "paths", (), "further folders of sealed generations (vN-*.jsonl), read only"),
    Key("record.ignore", "texts", (), "globs over paths of transcripts and of projects that are never read"),
    Key("record.size_budget_mb", "int", 20_000, "size of vault and map above which `fabula doctor` warns", least=1),
    Key("record.keep_generations", "int", 0, "newest generations of a file that `vault gc` keeps; 0 for no rule"),
    Key("record.keep_days", "int", 0, "days after which `vault gc` may remove a superseded generation; 0 for no rule"),
    Key(
        "record.key_command",
        "texts",
        (),
        "program and arguments that write the key or passphrase of an encrypted record",
    ),
    Key("record.key_files", "paths", (), "files of which the first that is there holds the key of an encrypted record"),
    Key("record.vault_budget_mb", "int", 0, "size down to which `vault gc` removes superseded generations; 0 for none"),
    Key(
        "search.scope",
        "choice",
        "repository",
        "where a search looks without --all",
        choices=("repository", "all"),
    ),
    Key("search.limit", "int", 10, "how many results a list shows without --limit", least=1),
    Key("render.budget", "int", 12_000, "tokens that `record context` spends without --budget", least=200),
    Key("memory.root", "path", "$FABULA_HOME/memory", "the corpus of memories: a git work tree", "FABULA_MEMORY"),
    Key("git.hooks", "bool", False, "true runs the git hooks of the corpus when a memory is committed"),  # noqa: FBT003
    Key(
        "embedding.provider",
        "choice",
        "static",
        "what makes the vectors that find memories by their meaning; static needs no network",
        "FABULA_EMBEDDING",
        choices=("static", "off", "openai", "ollama", "sentence-transformers"),
    ),
    Key("embedding.model", "text", "", "the model's name, for every provider but static and off"),
    Key("embedding.url", "text", "", "the address of the embedding server; empty for the provider's own"),
    Key("embedding.key_env", "text", "", "the name of the environment variable that holds the server's key"),
    Key("embedding.timeout_seconds", "int", 10, "how long a search waits for the embedding server", least=1),
)

_BY_NAME = {key.name: key for key in KEYS}


@frozen
class Setting:
    """The value of a key, and where it came from: ``detail`` is the file or the variable."""

    key: Key
    value: Any
    origin: Origin
    detail: str = ""


class Config:
    """Every setting. ``config["search.limit"]`` is the value; paths are ``Path``, lists are tuples."""

    def __init__(self, settings: dict[str, Setting], file: Path) -> None:
        self.settings = settings
        self.file = file

    def __getitem__(self, name: str) -> Any:
        return self.settings[name].value


def read_config(file: Path, environment: Mapping[str, str], user_home: Path) -> Config:
    """Read the settings. A missing file means defaults. Raises ``ERR_CONFIG``."""
    given = _flatten(_read_file(file), file)
    places = {"~": user_home, "$FABULA_HOME": file.parent} | {
        f"${name}": Path(environment.get(name) or user_home / usual) for name, usual in _XDG.items()
    }
    settings: dict[str, Setting] = {}
    for key in KEYS:
        setting = Setting(key, key.default, "default")
        if key.name in given:
            setting = Setting(key, given[key.name], "file", str(file))
        given_there = environment.get(key.environment, "").strip()
        value = _FROM_ENVIRONMENT[key.environment](given_there) if given_there else ()
        if value not in ((), ""):
            setting = Setting(key, value, "environment", key.environment)
        settings[key.name] = _resolved(setting, file, places)
    return Config(settings, file)


#: What paths may begin with, besides ``~``: the folders that the desktop names, and where they usually are.
_XDG = {"XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share"}

_FROM_ENVIRONMENT: dict[str, Callable[[str], Any]] = {
    "FABULA_DISABLE": lambda text: text.strip().lower() in {"0", "false", "no", "off"},
    "CLAUDE_CONFIG_DIR": lambda text: tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip())),
    "CODEX_HOME": lambda text: text,
    "GEMINI_CLI_HOME": lambda text: f"{text}/.gemini",
    "COPILOT_HOME": lambda text: text,
    "CURSOR_DATA_DIR": lambda text: text,
    "GOOSE_PATH_ROOT": lambda text: f"{text}/data" if text.startswith("/") else "",  # it passes over relative ones
    "KIMI_CODE_HOME": lambda text: text,
    "KIMI_SHARE_DIR": lambda text: text,
    "PI_CODING_AGENT_DIR": lambda text: text,
    "PI_CODING_AGENT_SESSION_DIR": lambda text: (text,) if text.startswith(("/", "~/")) else (),  # else it moves
    "FABULA_MEMORY": lambda text: text,
    "FABULA_EMBEDDING": lambda text: text.lower(),
    "OPENCODE_DB": lambda text: text if text.startswith(("/", "~/")) else f"$XDG_DATA_HOME/opencode/{text}",
}


def _read_file(file: Path) -> dict[str, Any]:
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return {}
    except NotADirectoryError as error:
        raise FabulaError("ERR_CONFIG", f"{file.parent} is no folder", "export FABULA_HOME=/a/folder") from error
    except OSError as error:
        from shlex import quote

        raise FabulaError("ERR_CONFIG", f"{file}: {error.strerror}", f"chmod u+r {quote(str(file))}") from error
    import tomllib

    try:
        return tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        from shlex import quote

        aside = f"mv {quote(str(file))} {quote(f'{file}.old')}"
        raise FabulaError("ERR_CONFIG", f"{file}: {error}", f"correct {file}", aside) from error


def _flatten(tables: dict[str, Any], file: Path, prefix: str = "") -> dict[str, Any]:
    """Turn nested tables into dotted keys that the table of keys knows."""
    found: dict[str, Any] = {}
    for part, value in tables.items():
        name = prefix + part
        if name in _BY_NAME:
            found[name] = value
        elif isinstance(value, dict) and any(known.startswith(f"{name}.") for known in _BY_NAME):
            found |= _flatten(value, file, f"{name}.")
        else:
            raise _unknown(name, file)
    return found


def _unknown(name: str, file: Path) -> FabulaError:
    from difflib import get_close_matches

    near = get_close_matches(name, list(_BY_NAME), n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]}?" if near else ""
    return FabulaError("ERR_CONFIG", f"{file}: unknown key {name}{hint}", f"correct {file}", "fabula help config")


def _resolved(setting: Setting, file: Path, places: Mapping[str, Path]) -> Setting:
    key = setting.key
    where = setting.detail or str(file)
    if setting.origin != "default" and not _fits(key, setting.value):
        wanted = f"one of {', '.join(key.choices)}" if key.kind == "choice" else _WANTED[key.kind]
        low = f" of at least {key.least}" if key.kind == "int" and key.least else ""
        raise FabulaError(
            "ERR_CONFIG", f"{where}: {key.name} must be {wanted}{low}, not {setting.value!r}", f"correct {where}"
        )
    value = setting.value
    if key.kind == "path":
        value = _absolute(value, key, where, places)
    elif key.kind == "paths":
        value = tuple(_absolute(text, key, where, places) for text in value)
    elif key.kind == "texts":
        value = tuple(value)
    return Setting(key, value, setting.origin, setting.detail)


_WANTED: dict[KeyKind, str] = {
    "bool": "true or false",
    "int": "a whole number",
    "text": "a text",
    "path": "the path of a folder",
    "paths": "a list of paths",
    "texts": "a list of texts",
}


def _fits(key: Key, value: Any) -> bool:
    match key.kind:
        case "bool":
            return isinstance(value, bool)
        case "int":
            return isinstance(value, int) and not isinstance(value, bool) and value >= key.least
        case "choice":
            return value in key.choices
        case "paths" | "texts":
            return isinstance(value, list | tuple) and all(isinstance(part, str) and part for part in value)
        case _:
            return isinstance(value, str) and value != ""


def _absolute(text: str, key: Key, where: str, places: Mapping[str, Path]) -> Path:
    first, _, rest = text.partition("/")
    path = places[first] / rest if first in places else Path(text)
    if not path.is_absolute():
        raise FabulaError(
            "ERR_CONFIG",
            f"{where}: {key.name} must be an absolute path or begin with ~/, not {text!r}",
            f"correct {where}",
        )
    return path
