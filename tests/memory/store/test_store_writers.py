"""Several processes write at once, each through an index of its own: nothing is lost, mixed or told wrongly."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from storecorpus import Corpus, fsck

WRITER = """
import json, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from storecorpus import Clock, Person, claim
from fabula.memory.index.opening import open_index
from fabula.memory.store.guarding import Secrets
from fabula.memory.store.opening import open_corpus
from fabula.memory.store.store import Store
from fabula.memory.store.writing import write
root = Path(sys.argv[2])
with open_corpus(root, Person(root).environ) as corpus:
    index = open_index(root, corpus.repo, Clock(), scratch=root.parent / "scratch")
    store = Store(corpus.repo(), index, Clock(), Secrets())
    sys.stdin.readline()
    for text in sys.argv[3:]:
        found = write(store, claim("One title", text))
        print(json.dumps([found.path, found.commit, found.created, text]), flush=True)
    index.close()
"""


def run(corpus: Corpus, texts: list[list[str]]) -> list[list[object]]:
    here = str(Path(__file__).parent)
    command = [sys.executable, "-c", WRITER, here, str(corpus.root)]
    writers = [
        subprocess.Popen([*command, *own], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for own in texts
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    said = [writer.communicate(timeout=120)[0] for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * len(writers)
    return [json.loads(line) for out in said for line in out.splitlines()]


def test_six_writers_of_one_title_make_six_files_in_six_commits_and_each_is_told_its_own(corpus: Corpus) -> None:
    count = corpus.commits()
    found = run(corpus, [[f"Writer {n} was here."] for n in range(6)])
    assert corpus.commits() == count + 6
    assert {path for path, *_ in found} == {
        "areas/inbox/one-title.html", *(f"areas/inbox/one-title-{n}.html" for n in range(2, 7)),
    }  # fmt: skip
    for path, commit, created, text in found:
        assert created
        changed = corpus.person.git("show", "--format=", "--name-status", str(commit))
        assert changed == f"A\t{path}"
        assert corpus.reading(str(path)).content.claim == text
    assert corpus.is_clean()
    assert fsck(corpus) == ""


def test_of_several_writers_of_one_fact_one_writes_it_and_all_are_told_where_it_is(corpus: Corpus) -> None:
    count = corpus.commits()
    found = run(corpus, [["The pool is 64.", f"Writer {n}."] for n in range(4)])
    same = [one for one in found if one[3] == "The pool is 64."]
    assert [created for _, _, created, _ in same].count(True) == 1
    assert len({path for path, *_ in same}) == 1
    assert corpus.commits() == count + 5
    assert corpus.is_clean()
