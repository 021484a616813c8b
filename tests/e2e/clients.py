"""The real coding agents at exact versions: installed once into a cache, run with no network but loopback."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent

#: npm packages at the versions for which the checks were written; a pin moves only after they pass on the new one.
PINS = {"claude": ("@anthropic-ai/claude-code", "2.1.197"), "codex": ("@openai/codex", "0.171.0")}

_INSIDE = """
ip link set lo up
"$PYTHON" "$MODEL" "$SCENARIO" "$PORT" & model=$!
for attempt in $(seq 100); do (exec 3<>"/dev/tcp/127.0.0.1/$PORT") 2>/dev/null && break; sleep 0.1; done
cd "$PROJECT"
"$@" </dev/null
status=$?
kill $model
exit $status
"""


class UnavailableError(Exception):
    """This machine cannot run the real clients; the message says why."""


@dataclass(frozen=True, slots=True)
class Client:
    """One coding agent: its program and the private home in which it runs."""

    name: str
    program: Path
    home: Path
    project: Path

    def run(self, scenario: Path, prompt: str, *, resume: str = "") -> str:
        """Run the client once and return what it printed. Raises ``RuntimeError`` when it fails or does not end."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "TERM": "dumb", "LANG": "C.UTF-8"}
        environment |= {"PYTHON": sys.executable, "MODEL": str(HERE / "scripted_model.py"), "SCENARIO": str(scenario)}
        environment |= {"PORT": str(port), "PROJECT": str(self.project), **configure(self.name, self.home, port)}
        command = [*isolation(), "bash", "-c", _INSIDE, "_", str(self.program), *arguments(self.name, prompt, resume)]
        try:
            done = subprocess.run(command, env=environment, timeout=180, capture_output=True, text=True, check=False)
        except subprocess.TimeoutExpired as error:
            raise RuntimeError(f"{self.name}: no end within three minutes") from error
        if done.returncode != 0:
            raise RuntimeError(f"{self.name}: exit {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        return done.stdout


def isolation() -> list[str]:
    """Return the command prefix that leaves a process nothing but loopback."""
    return ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-r", "-n"]


def require_isolation() -> None:
    """Raise :class:`UnavailableError` unless a process can be cut off from the network here."""
    for program in ("unshare", "ip", "npm", "bash"):
        if shutil.which(program) is None:
            raise UnavailableError(f"no {program}")
    tried = subprocess.run([*isolation(), "ip", "link", "set", "lo", "up"], capture_output=True, check=False)
    if tried.returncode != 0:
        raise UnavailableError("no network namespaces: " + tried.stderr.decode(errors="replace").strip())


def install(name: str, cache: Path) -> Path:
    """Return the client's program, installed from npm on first use. Raises :class:`UnavailableError`."""
    package, version = PINS[name]
    root = cache / f"{name}-{version}"
    program = program_path(name, root / "node_modules")
    if not program.exists():
        root.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--prefix", str(root), "--no-audit", "--no-fund", f"{package}@{version}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not program.exists():
            reason = done.stderr.strip().splitlines()
            raise UnavailableError(f"cannot install {package}@{version}: {reason[-1] if reason else 'no program'}")
    return program


def program_path(name: str, modules: Path) -> Path:
    """Return where the package keeps its program."""
    machine = "arm64" if os.uname().machine == "aarch64" else "x64"
    if name == "claude":
        return modules / "@anthropic-ai" / f"claude-code-linux-{machine}" / "claude"
    return modules / ".bin" / name


def configure(name: str, home: Path, port: int) -> dict[str, str]:
    """Point the client at the scripted model, keeping whatever else is configured. Returns environment variables."""
    url = f"http://127.0.0.1:{port}"
    if name == "claude":
        quiet = ["DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER", "IS_SANDBOX"]
        quiet += ["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"]
        return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none", **dict.fromkeys(quiet, "1")}
    path = home / ".codex" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        text = re.sub(r"http://127\.0\.0\.1:\d+/", f"{url}/", path.read_text(encoding="utf-8"))
    else:
        text = (
            'model = "gpt-5.3-codex"\nmodel_provider = "scripted"\n\n[model_providers.scripted]\nname = "scripted"\n'
            f'base_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "SCRIPTED_KEY"\n'
        )
    path.write_text(text, encoding="utf-8")
    return {"SCRIPTED_KEY": "none"}


def arguments(name: str, prompt: str, resume: str) -> list[str]:
    """Return the client's arguments for one prompt, in a new session or in the one to resume."""
    if name == "claude":
        options = ["--permission-mode", "bypassPermissions", "--output-format", "json"]
        return ["-p", prompt, *options, *(["--resume", resume] if resume else [])]
    options = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
    return ["exec", *options, *(["resume", resume] if resume else []), prompt]
