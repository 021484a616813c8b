"""Run real coding agents, then index, search and render what they wrote.

    python tests/e2e/run.py [--client NAME … | --all] [--fabula PROGRAM] [--cache DIR]

Without a choice these are the clients that most people use; the others take a large download. Each client runs a
scripted session (text, parallel tool calls, edits of a file, a failing command and its fix; those that have them also a
subagent) and resumes it. The last line is ``e2e: N passed``, ``e2e: N of M failed``, or ``e2e: SKIPPED (reason)`` where
this machine cannot run the clients. Exit status 1 when a check failed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import checks
import composing
import rewriting
from clients import HERE, Client, UnavailableError, install, require_isolation
from product import Product
from setups import SETUPS

PROMPT = "Please write a greeting module and check it."
RESUMED = "Now make it polite."
COMMON = ["claude", "codex", "gemini", "opencode"]


def main() -> int:
    """Run every client that was asked for. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--client", action="append", choices=list(SETUPS))
    parser.add_argument("--all", action="store_true", help="every client that there is")
    parser.add_argument("--fabula", default="")
    parser.add_argument("--cache", type=Path, default=cache_folder())
    options = parser.parse_args()
    names = list(SETUPS) if options.all else options.client or COMMON
    try:
        require_isolation()
        programs = {name: install(name, options.cache) for name in names}
    except UnavailableError as reason:
        print(f"e2e: SKIPPED ({reason})")
        return 0
    command = options.fabula or installed_command()
    passed, failed = 0, 0
    for name, (program, path) in programs.items():
        folder = Path(tempfile.mkdtemp(prefix=f"fabula-e2e-{name}-"))
        try:
            results = run_client(name, (program, path), folder, command)
        except (RuntimeError, AssertionError) as problem:  # the others run all the same
            results = {"the client runs": f"{problem}"[:3000] or "failed"}
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        passed += sum(not problem for problem in results.values())
        failed += sum(bool(problem) for problem in results.values())
        report(name, results)
    print(f"e2e: {failed} of {passed + failed} failed" if failed else f"e2e: {passed} passed")
    return int(failed > 0)


def run_client(name: str, found: tuple[Path, str], folder: Path, command: str) -> dict[str, str]:
    """Run one client and every check on what it wrote. Returns what is wrong by check, "" where nothing is."""
    home, project = folder / "home", folder / "project"
    home.mkdir()
    project.mkdir()
    scenario = folder / "scenario.json"
    text = (HERE / "scenarios" / f"{name}.json").read_text(encoding="utf-8")
    scenario.write_text(text.replace("@PROJECT@", str(project)), encoding="utf-8")
    client = Client(name, *found, home, project)
    client.run(scenario, PROMPT)
    session = session_of(name, home)
    client.run(scenario, RESUMED, resume=session)
    edited = project / "greeting.py"
    content = edited.read_text(encoding="utf-8")
    assert "Good morning, " in content, content
    made = checks.Sessions(name, session, SETUPS[name].transcripts(home), edited, content)
    product = Product(command, folder / "record", home, project)
    results = {"scan": attempt(checks.scan_accounts_for_every_object, product, made)}
    for check in checks.READING:
        results[label(check)] = attempt(check, product, made)
    for transcript in made.transcripts:
        transcript.remove()
    for check in (*checks.READING, checks.sealed_transcripts_come_back):
        results[f"{label(check)}, transcripts gone"] = attempt(check, product, made)
    if name == "claude":
        for story in (rewriting, composing):
            client = Client(name, *found, folder / f"home-of-{story.__name__}", project)
            results |= rewritten(story, client, folder, command)
    return results


def rewritten(story: ModuleType, client: Client, folder: Path, command: str) -> dict[str, str]:
    """Let a client write a session, make others of it, and open them: what is wrong by check."""
    client.home.mkdir()
    made = story.run_session(client, folder, command)
    return {label(check): attempt(check, made) for check in story.CHECKS}


def attempt(check: Callable[..., None], *made: Any) -> str:
    """Return what is wrong, or ""."""
    try:
        check(*made)
    except (AssertionError, KeyError, StopIteration) as problem:
        return f"{type(problem).__name__}: {problem}"[:3000] or "failed"
    return ""


def label(check: Callable[..., None]) -> str:
    """Return a check's name in words."""
    return check.__name__.replace("_", " ")


def report(name: str, results: dict[str, str]) -> None:
    """Print a client's line, and what failed."""
    good = sum(not problem for problem in results.values())
    print(f"{name} {SETUPS[name].version}: {good} of {len(results)} checks passed")
    for check, problem in results.items():
        if problem:
            print(f"  {check}: {problem}")


def session_of(name: str, home: Path) -> str:
    """Return the id of the one session that a client began."""
    found = [transcript.session for transcript in SETUPS[name].transcripts(home) if transcript.session]
    if len(found) != 1:
        raise RuntimeError(f"not one session: {found}")
    return found[0]


def cache_folder() -> Path:
    """Return where clients are kept between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "fabula-e2e"


def installed_command() -> str:
    """Return the ``fabula`` of this Python, else the one on the path."""
    own = Path(sysconfig.get_path("scripts")) / "fabula"
    found = str(own) if own.exists() else shutil.which("fabula")
    if not found:
        raise SystemExit("fabula is not installed: pip install .")
    return found


if __name__ == "__main__":
    sys.exit(main())
