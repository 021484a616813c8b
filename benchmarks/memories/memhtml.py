"""The npm package memhtml, run as a program: its command line, and its server over standard input and output.

Without embeddings and models, which it can only have from a service on the network. It is looked for, and never
installed here: ``npm install --prefix DIR memhtml@0.15.1 node@24.21.0``, or run ``tests/e2e/beside_memhtml.py`` once.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

DEFAULT = Path.home() / ".cache" / "fabula-e2e" / "memhtml"


def found(folder: Path) -> Path | None:
    """Return its modules below a folder, ``None`` where it is not installed with the Node it needs."""
    modules = folder / "node_modules"
    parts = (modules / ".bin" / "memhtml", modules / ".bin" / "memhtml-mcp", modules / "node" / "bin" / "node")
    return modules if all(part.exists() for part in parts) else None


class Memhtml:
    """Its command line on one corpus."""

    def __init__(self, modules: Path, home: Path, root: Path) -> None:
        self.root = root
        node = modules / "node" / "bin"
        self._program = [str(node / "node"), str(modules / ".bin" / "memhtml"), "--repo", str(root)]
        self._server = [str(node / "node"), str(modules / ".bin" / "memhtml-mcp")]
        names = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        off = {f"MEMHTML_{what}": "off" for what in ("EMBED", "LLM", "EXTRACT_ENTITIES")}
        self.environment = {"PATH": f"{node}{os.pathsep}{os.environ['PATH']}", "HOME": str(home), **names, **off}

    def run(self, *words: str) -> dict[str, Any]:
        """Run a command and return its data."""
        done = subprocess.run(
            [*self._program, *words], env=self.environment, capture_output=True, text=True, timeout=3600, check=False
        )
        answer = json.loads(done.stdout)
        if "data" not in answer:
            raise RuntimeError(f"memhtml {' '.join(words)}: {done.stdout[:500]}")
        return answer["data"]  # type: ignore[no-any-return]

    def serve(self) -> Server:
        """Start its server on the corpus."""
        return Server(self._server, {**self.environment, "MEMHTML_ROOT": str(self.root)})


class Server:
    """Its server; each call is one tool."""

    def __init__(self, command: Sequence[str], environment: dict[str, str]) -> None:
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        self._process = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=nothing, text=True)
        self._number = 0
        me = {"name": "benchmark", "version": "0"}
        self._ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": me})
        self._send({"method": "notifications/initialized"})

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return what it says."""
        result = self._ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        text = result["content"][0]["text"]
        if result.get("isError"):
            raise RuntimeError(f"memhtml {tool}: {text[:500]}")
        return json.loads(text)  # type: ignore[no-any-return]

    def search(self, query: str, **scope: Any) -> list[str]:
        """Return the paths that it finds, the best first."""
        return [hit["path"] for hit in self.call("memory_search", query=query, **scope)["hits"]]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()

    def _ask(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdout is not None
        self._number += 1
        self._send({"id": self._number, "method": method, "params": parameters})
        for line in self._process.stdout:
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == self._number:
                return answer
        raise RuntimeError(f"memhtml's server ended at {method}")
