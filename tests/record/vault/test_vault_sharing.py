"""Opening: one writer, many readers, read-only folders."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from vault_builders import TickingClock, begin, line_spans, open_vault, restored, seal, transcript

from fabula.kernel.errors import FabulaError
from fabula.record.vault.vault import Vault

HERE = Path(__file__).parent


def run(code: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a child; coverage is not measured in it, for as another user it could not write what it measured."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=HERE,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_second_writer_is_told_who_is_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabula.record.vault.vault.LOCK_WAIT_SECONDS", 0.05)
    with open_vault(tmp_path / "vault"), pytest.raises(FabulaError) as caught:
        open_vault(tmp_path / "vault")
    assert caught.value.code == "ERR_LOCKED"
    open_vault(tmp_path / "vault").close()


@pytest.mark.parametrize("options", [{"read_only": True}, {"create": False}])
def test_opening_what_is_not_there_makes_nothing(tmp_path: Path, options: dict[str, bool]) -> None:
    with pytest.raises(FabulaError) as caught:
        Vault.open(tmp_path / "vault", TickingClock(), **options)
    assert caught.value.code == "ERR_NO_RECORD"
    assert not (tmp_path / "vault").exists()


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    open_vault(tmp_path / "vault").close()
    with open_vault(tmp_path / "vault", read_only=True) as vault, pytest.raises(FabulaError) as caught:
        vault.source("host", "/a", "session", "s")
    assert caught.value.code == "ERR_READ_ONLY"


def test_a_vault_of_a_newer_format_is_left_alone(tmp_path: Path) -> None:
    with open_vault(tmp_path / "vault") as vault:
        vault.journal.connection.execute("pragma user_version=99")
    for read_only in (True, False):
        with pytest.raises(FabulaError) as caught:
            open_vault(tmp_path / "vault", read_only=read_only)
        assert caught.value.code == "ERR_VAULT_FORMAT"


def test_what_was_not_committed_is_undone(tmp_path: Path) -> None:
    with open_vault(tmp_path / "vault") as vault:
        kept = seal(vault, "/a", b'{"a":1}\n')
        lost = begin(vault, "/b")
        content = transcript(3000)
        vault.append(lost.id, 0, content, line_spans(content))
    with open_vault(tmp_path / "vault") as vault:
        assert [source.path for source in vault.sources()] == ["/a"]
        assert restored(vault, kept.id) == b'{"a":1}\n'
        seal(vault, "/c", content)
        assert list(vault.verify()) == []


READER = """
import sys
from pathlib import Path
from vault_builders import open_vault, restored
looks = 0
with open_vault(Path(sys.argv[1]), read_only=True) as vault:
    while True:
        for source in vault.sources():
            for generation in source.generations:
                content = restored(vault, generation.id)
                assert len(content) >= generation.size
                assert not content or content.endswith(b"\\n")
        assert list(vault.verify()) == []
        looks += 1
        if len(vault.sources()) >= 12:
            break
print(looks)
"""


@pytest.mark.usefixtures("small_packs")
def test_readers_see_whole_states_while_a_writer_appends(tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    open_vault(folder).close()
    readers = [run(READER, str(folder)) for _ in range(3)]
    with open_vault(folder) as vault:
        for number in range(12):
            seal(vault, f"/file/{number}", transcript(40, seed=number))
    for reader in readers:
        out, errors = reader.communicate(timeout=60)
        assert reader.returncode == 0, errors
        assert int(out) >= 1


NOBODY = """
import os, sys
from pathlib import Path
from vault_builders import contents, open_vault
from fabula.kernel.errors import FabulaError
# What the vault imports at need: the interpreter itself may lie where nobody else may read.
import msgspec, shlex, urllib.parse, fabula.storage.locks, fabula.storage.packs, fabula.record.vault.verifying
import fabula.record.vault.writing
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
folder = Path(sys.argv[1])
with open_vault(folder, read_only=True) as vault:
    assert contents(vault), "nothing was read"
    assert list(vault.verify()) == []
try:
    open_vault(folder)
except FabulaError as error:
    print(error.code)
"""


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX permissions")
def test_a_read_only_home_can_be_read_and_says_that_it_cannot_be_written(tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    with open_vault(folder) as vault:
        seal(vault, "/a", transcript(3000))
    everyone = [folder, folder / "packs"]
    for parent in folder.parents:
        if parent.stat().st_uid == os.getuid() and "pytest" in str(parent):
            parent.chmod(0o755)
    for part in [*everyone, *folder.rglob("*")]:
        part.chmod(0o555 if part.is_dir() else 0o444)
    names = sorted(path.name for path in folder.rglob("*"))
    done = run(NOBODY, str(folder))
    out, errors = done.communicate(timeout=60)
    assert (done.returncode, out.strip()) == (0, "ERR_READ_ONLY"), errors
    assert sorted(path.name for path in folder.rglob("*")) == names
    for part in everyone:
        part.chmod(0o755)
