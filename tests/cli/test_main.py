"""One envelope or readable text, the right exit status, and never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.cli import main as entry
from fabula.testing.outcome import Outcome

Fabula = Callable[..., Outcome]


def run_process(*words: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "fabula", *words], capture_output=True, check=False, **options)  # type: ignore[call-overload,no-any-return]


def test_a_success_is_one_envelope(fabula: Fabula) -> None:
    outcome = fabula("version", "--json")
    assert outcome.status == 0
    assert outcome.err == ""
    assert outcome.envelope["type"] == "version"


def test_a_wrong_call_is_an_envelope_too_when_json_is_among_the_words(fabula: Fabula) -> None:
    outcome = fabula("record", "search", "--limit", "x", "--json")
    assert outcome.status == 2
    assert outcome.err == ""
    assert outcome.envelope["code"] == "ERR_USAGE"
    assert outcome.envelope["suggestions"]


def test_a_wrong_call_is_text_on_standard_error_otherwise(fabula: Fabula) -> None:
    outcome = fabula("confgi")
    assert outcome.status == 2
    assert outcome.out == ""
    assert outcome.err.startswith("fabula: unknown command 'confgi' [ERR_USAGE]\n  try: fabula config\n")


def test_a_defect_shows_no_traceback_and_leaves_one_in_the_log(
    fabula: Fabula, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(app: object, request: object) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("fabula.cli.verbs.version.show_version", broken)
    outcome = fabula("version", "--json")
    assert outcome.status == 1
    assert outcome.envelope["code"] == "ERR_INTERNAL"
    assert "Traceback" not in outcome.out + outcome.err
    log = tmp_path / "fabula-home" / "logs" / "defects.log"
    assert "ZeroDivisionError: oh" in log.read_text()
    assert log.stat().st_mode & 0o077 == 0


def test_a_defect_is_reported_even_where_no_log_can_be_written(
    fabula: Fabula, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(app: object, request: object) -> None:
        raise ZeroDivisionError("oh")

    (tmp_path / "fabula-home").write_text("a file where the folder should be")
    monkeypatch.setattr("fabula.cli.verbs.version.show_version", broken)
    outcome = fabula("version")
    assert outcome.status == 1
    assert "ZeroDivisionError: oh [ERR_INTERNAL]" in outcome.err


def test_debugging_shows_the_traceback_of_a_defect(tmp_path: Path) -> None:
    code = (
        "import fabula.cli.verbs.version as v, sys\n"
        "def broken(app, request): raise ZeroDivisionError('oh')\n"
        "v.show_version = broken\n"
        "from fabula.cli.main import main\n"
        "sys.exit(main(['version']))"
    )
    environment = {**os.environ, "FABULA_HOME": str(tmp_path), "FABULA_DEBUG": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, env=environment)
    assert done.returncode == 1
    assert b"Traceback" in done.stderr


def test_an_interrupt_exits_130(fabula: Fabula, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(app: object, request: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("fabula.cli.verbs.version.show_version", interrupted)
    outcome = fabula("version", "--json")
    assert outcome.status == 130
    assert outcome.envelope["code"] == "ERR_INTERRUPTED"


def test_running_out_of_memory_is_said(fabula: Fabula, monkeypatch: pytest.MonkeyPatch) -> None:
    def huge(app: object, request: object) -> None:
        raise MemoryError

    monkeypatch.setattr("fabula.cli.verbs.version.show_version", huge)
    assert "not enough memory" in fabula("version").err


def test_the_result_may_say_that_it_failed(fabula: Fabula, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failed:
        exit_status = 1

    monkeypatch.setattr("fabula.cli.verbs.version.show_version", lambda app, request: Failed())
    monkeypatch.setattr("fabula.cli.render.version.render", lambda result, out: out.line("failed"))
    outcome = fabula("version")
    assert (outcome.status, outcome.out) == (1, "failed\n")


@pytest.mark.parametrize("words", [("help",), ("manifest", "--json")])
def test_a_reader_that_stops_early_ends_the_command_quietly(words: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.executable, "-m", "fabula", *words], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no full device here")
@pytest.mark.parametrize("words", [("help",), ("help", "--json"), ("nonsense", "--json")])
def test_a_full_disk_behind_standard_output_is_told_on_standard_error(words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "fabula", *words], stdout=full, stderr=subprocess.PIPE, check=False
        )
        silent = subprocess.run([sys.executable, "-m", "fabula", *words], stdout=full, stderr=full, check=False)
    assert done.returncode == silent.returncode == (2 if words[0] == "nonsense" else 1)
    assert done.stderr.startswith(b"fabula: unknown" if words[0] == "nonsense" else b"fabula: standard output: ")
    assert b"Traceback" not in done.stderr


def test_a_closed_standard_output_is_no_defect() -> None:
    done = subprocess.run(f'"{sys.executable}" -m fabula version >&-', shell=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_deleted_working_directory_is_no_defect(tmp_path: Path) -> None:
    code = f"import os, sys; os.chdir({str(tmp_path)!r}); os.rmdir({str(tmp_path)!r}); "
    code += "from fabula.cli.main import main; sys.exit(main(['config', '--json']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_output_is_utf8_whatever_the_locale() -> None:
    done = run_process(
        "help", "record", "search", env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    )
    assert done.returncode == 0
    assert "—" in done.stdout.decode()


def test_words_that_are_no_unicode_are_answered(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "fabula", b"caf\xe9", "--json"], capture_output=True, check=False)
    assert done.returncode == 2
    assert json.loads(done.stdout)["code"] == "ERR_USAGE"


def test_the_version_flag_and_the_help_flags_are_commands(fabula: Fabula) -> None:
    assert fabula("--version").out.startswith("fabula 0")
    assert fabula("-V", "--json").envelope["type"] == "version"
    assert fabula("record", "search", "--help", "--json").envelope["type"] == "help"
    assert fabula().out.startswith("usage: fabula")


def test_a_missing_home_folder_is_a_configuration_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("no home")

    monkeypatch.setattr("pathlib.Path.home", homeless)
    assert entry.main(["version"]) == 2


@pytest.mark.parametrize("value", ["1", "true", "yes"])
def test_the_off_switch_in_the_environment_stops_the_record_and_says_how_to_undo_it(
    fabula: Fabula, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("FABULA_DISABLE", value)
    outcome = fabula("record", "search", "x", "--json")
    assert outcome.status == 1
    assert outcome.envelope["code"] == "ERR_DISABLED"
    assert outcome.envelope["suggestions"] == ["unset FABULA_DISABLE"]
    assert fabula("config").status == 0
