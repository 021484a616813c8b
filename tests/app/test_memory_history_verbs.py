"""Merging, committing by hand and forgetting as a person does them: on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "memory"))

from clones import Corpus, corpus, memory

from fabula.kernel.clock import SystemClock
from fabula.memory.state.plane import StatePlane
from fabula.testing.terminal import on_terminal

A, B = "areas/inbox/the-key-is-tabasco.html", "areas/inbox/b.html"
SECRET = "The key of the safe is tabasco"


class Typist:
    """Someone who calls the program in a corpus."""

    def __init__(self, here: Corpus, home: Path) -> None:
        self.here = here
        self.environ = {**here.environ, "FABULA_HOME": str(home), "NO_COLOR": "1"}

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "fabula", "memory", *words, "--corpus", str(self.here.root)]

    def text(self, *words: str) -> str:
        done = subprocess.run(self.command(*words), capture_output=True, text=True, check=False, env=self.environ)
        return done.stdout + done.stderr

    def data(self, *words: str) -> Any:
        words = (*words, "--json")
        done = subprocess.run(self.command(*words), capture_output=True, text=True, check=False, env=self.environ)
        said = json.loads(done.stdout)
        return said.get("data", said)


@pytest.fixture
def typist(tmp_path: Path) -> Typist:
    here = corpus(tmp_path / "one", {B: memory("b fact")})
    here.write(A, memory(SECRET))
    here.commit(f"memhtml(write): {SECRET}")
    return Typist(here, tmp_path / "fabula")


def test_a_clone_is_merged_and_conflicts_are_named(typist: Typist) -> None:
    theirs = typist.here.clone("two")
    theirs.write(B, memory("b fact", tags=["theirs"]))
    theirs.commit("theirs")
    typist.here.write("areas/c.html", memory("c fact"))
    typist.here.commit("ours")
    typist.here.git("fetch", "--quiet", str(theirs.root), "main:theirs")
    assert typist.data("merge", "theirs")["kind"] == "merge"
    assert "nothing new" in typist.text("merge", "theirs")
    theirs.write(B, memory("theirs"))
    theirs.commit("theirs")
    typist.here.write(B, memory("ours"))
    typist.here.commit("ours")
    typist.here.git("fetch", "--quiet", str(theirs.root), "main:theirs")
    said = typist.data("merge", "theirs")
    assert said["code"] == "ERR_WRITE_CONFLICT"
    assert typist.here.git("rev-parse", f"theirs:{B}")[:12] in said["error"]
    assert B in said["error"]


def test_files_changed_by_hand_are_looked_at_and_committed(typist: Typist) -> None:
    assert "no memory was changed" in typist.text("commit")
    typist.here.write("projects/new/c.html", memory("c fact"))
    typist.here.write(B, memory("b fact").replace("<mark>", "").replace("</mark>", ""))
    assert "nothing was committed" in typist.text("commit", "--dry-run")
    assert typist.data("commit")["code"] == "ERR_MEMORY_FORMAT"
    done = typist.data("commit", "projects")
    assert [one["path"] for one in done["changes"]] == ["projects/new/c.html"]
    assert typist.here.subjects()[0] == "memhtml(write): c fact"
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    typist.here.write("projects/new/d.html", memory("d fact", body=token))
    assert typist.data("commit", "projects")["code"] == "ERR_SECRET"


def test_forgetting_is_a_preview_without_a_persons_consent(typist: Typist) -> None:
    before = typist.here.git("show-ref")
    said = typist.text("forget", A)
    assert A in said
    assert "nothing was changed" in said
    done = subprocess.run(
        typist.command("forget", A, "--apply"),
        capture_output=True, check=False, env=typist.environ, start_new_session=True, input=b"forget\n",
    )  # fmt: skip
    assert done.returncode == 3
    assert typist.here.git("show-ref") == before
    assert typist.data("forget")["code"] == "ERR_USAGE"


def test_what_a_person_agreed_to_forget_is_in_no_file_of_the_corpus(typist: Typist) -> None:
    typist.data("commit")
    with StatePlane(typist.here.root, SystemClock()) as plane:
        plane.read([A], "s-1")
        plane.read([B], "s-1")
    shown = on_terminal(typist.command("forget", A, "--apply"), typist.environ, "forget")
    assert "Type forget to go on" in shown.terminal
    assert "forgotten" in shown.output
    assert not (typist.here.root / A).exists()
    held = [path for path in typist.here.root.rglob("*") if path.is_file() and b"tabasco" in path.read_bytes()]
    assert held == []
    assert typist.here.subjects()[0] == "memhtml(forget): 1 memory"
    assert typist.here.status() == []
    assert (typist.here.root / ".fabula" / "index.db").exists()
    with StatePlane(typist.here.root, SystemClock()) as plane:
        assert [link.path for link in plane.links_of("s-1")] == [B]
