"""Shells complete what the command table holds: asked of bash itself."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.cli.table import COMMANDS
from fabula.testing.outcome import Outcome

Fabula = Callable[..., Outcome]


def completed(script: str, folder: Path, *words: str) -> set[str]:
    """Return what bash offers for the last of some words."""
    file = folder / "completion.bash"
    file.write_text(script)
    typed = " ".join(map(shlex.quote, ("fabula", *words)))
    asked = f'source {file}; COMP_WORDS=({typed}); COMP_CWORD={len(words)}; _fabula; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "--norc", "-c", asked], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_words_options_and_values(fabula: Fabula, tmp_path: Path) -> None:
    script = fabula("completion", "bash").out
    assert completed(script, tmp_path, "") == {command.path[0] for command in COMMANDS}
    assert completed(script, tmp_path, "memory", "unarch") == {"unarchive"}
    assert completed(script, tmp_path, "record", "search", "--lim") == {"--limit"}
    assert completed(script, tmp_path, "memory", "export", "--format", "") == {"html", "markdown", "jsonl"}
    assert completed(script, tmp_path, "completion", "f") == {"fish"}
    for command in COMMANDS:
        names = {option.name for option in command.options if not option.hidden}
        assert names <= completed(script, tmp_path, *command.path, "-"), command.name


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_script_names_every_command_and_every_option(fabula: Fabula, shell: str) -> None:
    script = fabula("completion", shell).out
    for command in COMMANDS:
        assert command.path[-1] in script
        assert all(option.name.removeprefix("--") in script for option in command.options if not option.hidden)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_a_script_is_read_by_its_shell_without_a_word(fabula: Fabula, tmp_path: Path, shell: str) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    file = tmp_path / "script"
    file.write_text(fabula("completion", shell).out)
    assert subprocess.run([program, "-n", str(file)], capture_output=True, check=True).stderr == b""
