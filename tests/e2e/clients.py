"""The real coding agents at exact versions: installed once into a cache, run with no network but loopback."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from setups import NODE, SETUPS

HERE = Path(__file__).resolve().parent

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
    path: str  # where it finds programs: its own Node first
    home: Path
    project: Path

    def run(self, scenario: Path, prompt: str, *, resume: str = "") -> str:
        """Run the client once and return what it printed. Raises ``RuntimeError`` when it fails or does not end."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        setup = SETUPS[self.name]
        arguments = setup.resumed(resume, prompt) if resume else setup.arguments(prompt)
        environment = {"PATH": self.path, "HOME": str(self.home), "TERM": "dumb", "LANG": "C.UTF-8"}
        environment |= {"PYTHON": sys.executable, "MODEL": str(HERE / "scripted_model.py"), "SCENARIO": str(scenario)}
        environment |= {"PORT": str(port), "PROJECT": str(self.project)}
        environment |= setup.configure(self.home, f"http://127.0.0.1:{port}")
        command = [*isolation(), "bash", "-c", _INSIDE, "_", str(self.program), *arguments]
        try:
            done = subprocess.run(command, env=environment, timeout=180, capture_output=True, text=True, check=False)
        except subprocess.TimeoutExpired as error:
            raise RuntimeError(f"{self.name}: no end within three minutes") from error
        if done.returncode != 0:
            raise RuntimeError(f"{self.name}: exit {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        return done.stdout


def log_of(scenario: Path) -> Path:
    """Return the file in which the scripted model keeps every request of a scenario, one a line."""
    return scenario.with_suffix(".requests.jsonl")


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


def install(name: str, cache: Path) -> tuple[Path, str]:
    """Return the client's program and the PATH it needs, installed from npm on first use.

    Raises :class:`UnavailableError`.
    """
    setup = SETUPS[name]
    path = os.environ["PATH"]
    if setup.newer_node:
        package, version = NODE
        modules = _installed(cache / f"node-{version}", package, version, ".bin/node")
        path = f"{modules / '.bin'}{os.pathsep}{path}"
    machine = "arm64" if os.uname().machine == "aarch64" else "x64"
    package, program = setup.package.format(machine=machine), setup.program.format(machine=machine)
    return _installed(cache / f"{name}-{setup.version}", package, setup.version, program) / program, path


def _installed(root: Path, package: str, version: str, program: str) -> Path:
    """Install a package into a folder of its own unless its program is there. Returns its ``node_modules``."""
    modules = root / "node_modules"
    if not (modules / program).exists():
        root.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--prefix", str(root), "--no-audit", "--no-fund", f"{package}@{version}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not (modules / program).exists():
            reason = done.stderr.strip().splitlines()
            raise UnavailableError(f"cannot install {package}@{version}: {reason[-1] if reason else 'no program'}")
    return modules
