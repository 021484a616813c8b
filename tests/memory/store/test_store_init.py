"""Making a corpus, making it whole, and what is refused."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from storecorpus import Clock, Corpus, Person, claim

from fabula.kernel.errors import FabulaError
from fabula.memory.format.findings import Finding
from fabula.memory.format.reader import read
from fabula.memory.store.excluding import RULES, common_folder, ensure_excluded
from fabula.memory.store.opening import examine, open_corpus
from fabula.memory.store.reading import read_memory
from fabula.memory.store.scaffold import SCAFFOLD, Initialised, init_corpus
from fabula.memory.store.writing import write


def init(root: Path, person: Person | None = None) -> Initialised:
    return init_corpus(root, (person or Person(root)).environ, Clock())


def test_a_new_corpus_is_one_commit_of_the_scaffold_on_main_with_a_clean_tree(tmp_path: Path) -> None:
    person = Person(tmp_path / "memory")
    (tmp_path / "home" / ".gitconfig").write_text("[init]\n\tdefaultBranch = trunk\n")
    made = init(person.root, person)
    assert made.created
    assert made.was == "absent"
    assert made.head == made.commit
    assert person.git("branch", "--show-current") == "main"
    assert person.git("ls-files").split("\n") == sorted(SCAFFOLD)
    assert person.git("log", "--format=%s").startswith("memhtml(init): ")
    assert person.status() == []
    assert person.git("config", "merge.ours.driver") == "true"
    assert json.loads((person.root / ".fabula/corpus.json").read_text()) == {"format": "fabula-corpus", "version": 1}
    assert stat.S_IMODE(person.root.stat().st_mode) == 0o700


def test_doing_it_again_changes_nothing(corpus: Corpus) -> None:
    before = corpus.digest()
    again = init(corpus.root, corpus.person)
    assert (again.created, again.commit, again.wrote, again.restored) == (False, None, (), ())
    assert corpus.digest() == before


def test_databases_and_logs_are_ignored_while_marker_and_shared_logs_are_not(corpus: Corpus) -> None:
    for path in (".fabula/index.db", ".fabula/index.db-wal", ".fabula/log/a.jsonl", ".memhtml/index.db"):
        corpus.person.write(path, "x")
    assert corpus.is_clean()
    corpus.person.write(".fabula/state/r1/202605.jsonl", "{}\n")
    assert corpus.person.status() == ["?? .fabula/state/r1/202605.jsonl"]


def test_what_a_person_changed_is_left_and_what_is_missing_comes_back(corpus: Corpus) -> None:
    corpus.person.write(".gitignore", "mine\n")
    corpus.person.git("commit", "-qam", "my rules")
    (corpus.root / "areas/inbox/.gitkeep").unlink()
    again = init(corpus.root, corpus.person)
    assert again.restored == ("areas/inbox/.gitkeep",)
    assert again.commit is None
    assert (corpus.root / ".gitignore").read_text() == "mine\n"
    corpus.person.git("rm", "-q", "README.html")
    corpus.person.git("commit", "-qm", "gone")
    again = init(corpus.root, corpus.person)
    assert again.wrote == ("README.html",)
    assert corpus.is_clean()


def test_an_init_that_was_stopped_converges(tmp_path: Path) -> None:
    person = Person(tmp_path / "memory")
    person.root.mkdir()
    person.git("init", "-q", "-b", "main")
    for path in (".gitattributes", "README.html", "areas/.gitkeep"):
        person.write(path, SCAFFOLD[path])
    person.git("add", "-A")
    made = init(person.root, person)
    assert not made.created
    assert made.commit is not None
    assert person.status() == []


def test_the_readme_keeps_to_the_format_but_for_the_metas_it_has_none_of() -> None:
    found: list[Finding] = read(SCAFFOLD["README.html"].encode()).violations
    assert {finding.group for finding in found} == {"metas"} or {finding.group for finding in found} == {"head"}
    assert all("missing" in str(finding) or "memhtml-" in finding.message for finding in found)


@pytest.mark.parametrize("inner", ["notes", "deep/er/notes"])
def test_a_folder_inside_of_another_repository_is_refused_and_left_alone(tmp_path: Path, inner: str) -> None:
    outer = Person(tmp_path / "outer")
    outer.root.mkdir()
    outer.git("init", "-q")
    outer.git("commit", "-q", "--allow-empty", "-m", "theirs")
    with pytest.raises(FabulaError, match="inside of the repository") as refused:
        init(outer.root / inner, outer)
    assert refused.value.code == "ERR_FOREIGN"
    assert not (outer.root / inner).exists()
    assert outer.git("log", "--format=%s") == "theirs"


def test_a_repository_without_our_marker_is_refused(tmp_path: Path) -> None:
    person = Person(tmp_path / "program")
    person.write("main.py", "print()\n")
    person.git("init", "-q")
    with pytest.raises(FabulaError) as refused:
        init(person.root, person)
    assert refused.value.code == "ERR_FOREIGN"
    person.git("add", "-A")
    person.git("commit", "-qm", "theirs")
    (person.root / "main.py").unlink()
    with pytest.raises(FabulaError, match="something else"):  # a work tree that is empty is no empty repository
        init(person.root, person)
    assert person.git("log", "--format=%s") == "theirs"


def test_a_folder_with_other_things_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_bytes(b"x")
    with pytest.raises(FabulaError, match=r"photo\.jpg") as refused:
        init(tmp_path)
    assert refused.value.suggestions == (f"fabula init --memory {tmp_path}/memory",)
    assert not (tmp_path / ".git").exists()
    with pytest.raises(FabulaError) as refused:
        init(tmp_path / "photo.jpg")
    assert refused.value.code == "ERR_PATH"


def test_a_corpus_of_memhtml_opens_as_it_is_and_init_adds_our_marker(tmp_path: Path) -> None:
    person = Person(tmp_path / "old")
    theirs = Corpus(tmp_path / "other")
    written = write(theirs.store, claim("Kept", "The old corpus is kept."))
    person.write("areas/inbox/kept.html", theirs.data(written.path).decode())
    theirs.repo.close()
    person.git("init", "-q", "-b", "main")
    person.git("add", "-A")
    person.git("commit", "-qm", "memhtml(write): Kept")
    before = person.git("rev-parse", "HEAD"), person.git("ls-files")
    with open_corpus(person.root, person.environ) as opened:
        assert opened.kind == "memhtml"
        assert read_memory(opened.root, "/areas/inbox/kept.html").reading.title == "Kept"
        opened.repo()
    assert (person.git("rev-parse", "HEAD"), person.git("ls-files")) == before
    assert person.status() == []
    assert init(person.root, person).was == "memhtml"
    assert examine(person.root).kind == "ours"


def test_what_is_no_corpus_is_an_error_that_names_the_way_and_nothing_is_made(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    with pytest.raises(FabulaError) as refused:
        open_corpus(nowhere, {})
    assert refused.value.code == "ERR_NO_CORPUS"
    assert refused.value.suggestions == (f"fabula init --memory {nowhere}",)
    assert not nowhere.exists()
    init(nowhere)
    assert open_corpus(nowhere, {}).kind == "ours"


@pytest.mark.parametrize("kind", ["nowhere", "deep/er", "empty", "plain", "file", "repo", "repo/sub", "repo/no/where"])
def test_init_is_advised_only_where_it_makes_a_memory(kind: str, tmp_path: Path) -> None:
    person = Person(tmp_path / "repo")
    person.root.mkdir()
    person.git("init", "-q", "-b", "main")
    person.write("code.py", "1")
    (tmp_path / "repo/sub").mkdir()
    (tmp_path / "empty").mkdir()
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain/notes.md").write_text("x")
    (tmp_path / "file").write_text("x")
    with pytest.raises(FabulaError) as refused:
        open_corpus(tmp_path / kind, {})
    assert refused.value.code == "ERR_NO_CORPUS"
    assert ("is a file" in refused.value.message) is (kind == "file")
    (advice,) = refused.value.suggestions
    assert advice.startswith("fabula init --memory ") is (kind in {"nowhere", "deep/er", "empty", "plain"})
    if advice.startswith("fabula init --memory "):
        made = init(Path(advice.removeprefix("fabula init --memory ")), person)
        assert made.created


def test_a_corpus_of_a_newer_version_is_not_opened(corpus: Corpus) -> None:
    corpus.person.write(".fabula/corpus.json", '{"format": "fabula-corpus", "version": 2}')
    assert examine(corpus.root).kind == "newer"
    with pytest.raises(FabulaError, match="newer"):
        open_corpus(corpus.root, {})
    for damaged in ("", "[]", "{", '{"format": 1}'):
        corpus.person.write(".fabula/corpus.json", damaged)
        assert examine(corpus.root).kind in {"foreign", "memhtml"}


def test_the_local_exclude_file_is_written_once_and_keeps_what_is_in_it(tmp_path: Path) -> None:
    person = Person(tmp_path / "r")
    person.root.mkdir()
    person.git("init", "-q")
    exclude = person.root / ".git/info/exclude"
    exclude.write_text("mine")
    assert ensure_excluded(person.root) is None
    text = exclude.read_text()
    assert text.startswith("mine\n")
    assert set(RULES) <= set(text.splitlines())
    assert ensure_excluded(person.root) is None
    assert exclude.read_text() == text
    person.write(".fabula/index.db", "x")
    assert person.status() == []


def test_a_linked_work_tree_shares_the_exclude_file(corpus: Corpus, tmp_path: Path) -> None:
    corpus.person.git("worktree", "add", "-q", str(tmp_path / "second"), "-b", "side")
    assert common_folder(tmp_path / "second") == (corpus.root / ".git").resolve()
    assert ensure_excluded(tmp_path / "second") is None
    assert examine(tmp_path / "second").kind == "ours"
    assert ensure_excluded(tmp_path) is not None
