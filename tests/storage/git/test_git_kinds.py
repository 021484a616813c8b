"""Repositories and settings of every kind: each works, or is refused with a reason and a way out."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from shutil import which

import pytest
from gitcorpus import AT, Person, made

from fabula.kernel.errors import FabulaError
from fabula.storage.git.repo import Repo
from fabula.storage.git.values import Move, Put, Remove

FIRST = {"areas/inbox/a.html": "<p>a</p>\n", "areas/inbox/b.html": "<p>b</p>\n", "README.html": "<p>read</p>\n"}


def written(person: Person) -> None:
    """Write, replace, move and remove; everything is clean and right afterwards."""
    with person.repo() as repo:
        repo.commit([Put("areas/new.html", b"<p>new</p>\n")], "one\n", AT)
        changes = [
            Put("areas/inbox/a.html", b"<p>a2</p>\n", replaces=person.blob("areas/inbox/a.html")),
            Move("README.html", "archive/2026/README.html"),
            Remove("areas/inbox/b.html"),
        ]
        repo.commit(changes, "two\n", AT)
    assert person.subjects()[:2] == ["two", "one"]
    assert person.git("ls-tree", "-r", "--name-only", "HEAD").splitlines() == [
        "archive/2026/README.html", "areas/inbox/a.html", "areas/new.html",
    ]  # fmt: skip
    assert person.git("show", "HEAD:areas/inbox/a.html") == "<p>a2</p>"
    assert person.git("fsck", "--full", "--strict", "--no-dangling") == ""


def refused(person: Person, path: str = "x.html") -> FabulaError:
    with person.repo() as repo, pytest.raises(FabulaError) as caught:
        repo.commit([Put(path, b"x")], "no\n", AT, wait_seconds=0.2)
    return caught.value


def test_ids_of_sha_256(tmp_path: Path) -> None:
    person = made(tmp_path, "--object-format=sha256", files=FIRST)
    written(person)
    assert len(person.git("rev-parse", "HEAD")) == 64
    assert person.status() == []


@pytest.mark.parametrize("form", ["split", "version 4", "version 4 with sha256", "untracked cache", "skipped hash"])
def test_an_index_of_any_form(tmp_path: Path, form: str) -> None:
    person = made(tmp_path, *(["--object-format=sha256"] if "sha256" in form else []), files=FIRST)
    person.write("staged.html", "mine")
    person.git("add", "staged.html")
    if form == "split":
        person.git("config", "core.splitIndex", "true")
        person.git("update-index", "--split-index")
    elif form.startswith("version 4"):
        person.git("update-index", "--index-version", "4")
    elif form == "untracked cache":
        person.git("update-index", "--force-untracked-cache")
        person.status()
    else:
        person.git("config", "index.skipHash", "true")
        person.git("update-index", "--force-write-index", check=False)
    written(person)
    assert person.status() == ["A  staged.html"]


def test_a_sparse_checkout_stays_sparse(tmp_path: Path) -> None:
    person = made(tmp_path, files={**FIRST, "areas/big/one.html": "1", "areas/big/two.html": "2"})
    person.git("sparse-checkout", "init", "--cone", "--sparse-index")
    person.git("sparse-checkout", "set", "areas/inbox")
    assert not (person.root / "areas/big").exists()
    with person.repo() as repo:
        repo.commit([Put("areas/inbox/c.html", b"c")], "one\n", AT)
        assert not (person.root / "areas/big").exists()
        repo.commit([Move("areas/big/one.html", "archive/one.html"), Remove("areas/big/two.html")], "two\n", AT)
    assert person.git("ls-tree", "-r", "--name-only", "HEAD", "areas/big", "archive") == "archive/one.html"
    assert person.status() == []


def test_line_endings_are_converted_as_the_person_set_them(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    person.git("config", "core.autocrlf", "true")
    with person.repo() as repo:
        repo.commit([Put("unix.html", b"1\n2\n"), Put("dos.html", b"1\r\n2\r\n")], "lines\n", AT)
        assert person.status() == []
        repo.commit([Put("dos.html", b"3\r\n", replaces=person.blob("dos.html"))], "again\n", AT)
    assert person.git("cat-file", "-s", "HEAD:unix.html") == "4"
    assert person.git("cat-file", "-s", "HEAD:dos.html") == "2"
    assert (person.root / "dos.html").read_bytes() == b"3\r\n"
    assert person.status() == []


def test_a_filter_decides_what_is_stored(tmp_path: Path) -> None:
    person = made(tmp_path, files={".gitattributes": "*.up filter=up\n*.html merge=ours diff=html\n"})
    person.git("config", "filter.up.clean", "tr a-z A-Z")
    person.git("config", "filter.up.smudge", "tr A-Z a-z")
    with person.repo() as repo:
        repo.commit([Put("x.up", b"quiet"), Put("x.html", b"quiet")], "filtered\n", AT)
        assert person.git("show", "HEAD:x.up") == "QUIET"
        assert person.git("show", "HEAD:x.html") == "quiet"
        assert (person.root / "x.up").read_bytes() == b"quiet"
        assert person.status() == []
        repo.commit([Put("x.up", b"still", replaces=person.blob("x.up"))], "again\n", AT)
    assert person.git("show", "HEAD:x.up") == "STILL"
    assert person.status() == []


def test_a_linked_work_tree_has_its_own_branch_and_index(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    other = Person(tmp_path / "other")
    person.git("worktree", "add", "--quiet", "-b", "sleep/2026-11-30", str(other.root))
    other.write("staged.html", "theirs")
    other.git("add", "staged.html")
    written(other)
    assert other.status() == ["A  staged.html"]
    assert person.status() == []
    assert person.subjects() == ["first"]
    assert person.subjects("sleep/2026-11-30") == ["two", "one", "first"]


def test_a_repository_with_packed_refs_and_objects_from_a_remote(tmp_path: Path) -> None:
    origin = made(tmp_path / "origin", files=FIRST)
    origin.git("gc", "--quiet")
    clone = Person(tmp_path / "clone")
    subprocess.run(("git", "clone", "--quiet", str(origin.root), str(clone.root)), check=True, env=origin.environ)
    written(clone)
    assert clone.status() == []
    assert clone.git("rev-list", "--count", "origin/main..HEAD") == "2"
    assert origin.subjects() == ["first"]


def test_a_shared_clone_reads_what_it_borrows(tmp_path: Path) -> None:
    origin = made(tmp_path / "origin", files=FIRST)
    clone = Person(tmp_path / "clone")
    words = ("git", "clone", "--quiet", "--shared", str(origin.root), str(clone.root))
    subprocess.run(words, check=True, env=origin.environ)
    written(clone)


def test_head_on_no_branch_is_refused_and_the_way_out_works(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    person.git("checkout", "--quiet", "--detach")
    error = refused(person)
    assert error.code == "ERR_GIT"
    assert "no branch" in error.message
    subprocess.run(error.suggestions[0], shell=True, check=True, capture_output=True, env=person.environ)
    written(person)


def test_a_merge_under_way_keeps_its_state(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    person.git("checkout", "--quiet", "-b", "side")
    person.write("README.html", "side")
    person.git("commit", "--quiet", "-am", "side")
    person.git("checkout", "--quiet", "main")
    person.write("README.html", "main")
    person.git("commit", "--quiet", "-am", "main")
    person.git("merge", "side", check=False)
    before = person.status()
    assert before == ["UU README.html"]
    with person.repo() as repo:
        repo.commit([Put("areas/new.html", b"n")], "ours\n", AT)
        with pytest.raises(FabulaError) as caught:
            repo.commit([Put("README.html", b"x", replaces=person.blob("README.html"))], "no\n", AT)
    assert caught.value.code == "ERR_DIRTY"
    assert person.status() == before
    person.write("README.html", "both")
    person.git("commit", "--quiet", "-am", "merged")
    assert person.subjects()[0] == "merged"
    assert "areas/new.html" in person.git("ls-tree", "-r", "--name-only", "HEAD")


def test_a_lock_of_git_is_waited_for_and_then_named(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    lock = person.root / ".git" / "index.lock"
    lock.write_bytes(b"")
    error = refused(person)
    assert error.code == "ERR_LOCKED"
    assert lock.exists()
    assert error.suggestions[1].endswith(f"rm {lock}")
    lock.unlink()
    written(person)


def test_a_lock_on_the_branch_is_waited_for_and_then_named(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    lock = person.root / ".git" / "refs" / "heads" / "main.lock"
    lock.write_bytes(b"")
    error = refused(person)
    assert error.code == "ERR_LOCKED"
    assert error.suggestions[1].endswith(f"rm {lock}")
    assert person.status() == []
    assert not (person.root / ".git" / "index.lock").exists()
    lock.unlink()
    written(person)


def test_an_identity_comes_from_the_environment_then_the_settings_then_has_a_name(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    shown = ("log", "-1", "--format=%an <%ae> %cn <%ce>")
    person.environ |= {"GIT_AUTHOR_NAME": "Eve", "GIT_AUTHOR_EMAIL": "eve@example.org"}
    with person.repo() as repo:
        repo.commit([Put("1.html", b"1")], "1\n", AT)
        assert person.git(*shown) == "Eve <eve@example.org> Ada <ada@example.org>"
        person.git("config", "user.name", "Grace <H>")
        repo.commit([Put("2.html", b"2")], "2\n", AT)  # settings that change are seen
        assert person.git(*shown) == "Eve <eve@example.org> Grace H <ada@example.org>"
    del person.environ["GIT_AUTHOR_NAME"], person.environ["GIT_AUTHOR_EMAIL"]
    person.git("config", "--unset", "user.name")
    person.git("config", "--unset", "user.email")
    with person.repo() as repo:
        repo.commit([Put("3.html", b"3")], "3\n", AT)
    assert person.git(*shown) == "Fabula <fabula@localhost> Fabula <fabula@localhost>"


@pytest.mark.skipif(which("ssh-keygen") is None, reason="signing with ssh needs ssh-keygen")
def test_a_commit_is_signed_where_the_person_signs(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    key = tmp_path / "key"
    subprocess.run(("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)), check=True)
    allowed = tmp_path / "allowed"
    allowed.write_text(f"ada@example.org {key.with_suffix('.pub').read_text()}")
    for name, value in {
        "gpg.format": "ssh",
        "user.signingkey": str(key),
        "commit.gpgsign": "true",
        "gpg.ssh.allowedSignersFile": str(allowed),
    }.items():
        person.git("config", name, value)
    written(person)
    assert person.git("log", "-2", "--format=%G?") == "G\nG"
    assert person.git("log", "-1", "--format=%an %at") == "Ada 1700000000"
    assert person.status() == []


def test_a_signature_that_fails_is_no_commit_and_the_way_out_works(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    person.git("config", "commit.gpgsign", "true")
    person.git("config", "gpg.program", "/bin/false")
    error = refused(person)
    assert error.code == "ERR_GIT"
    assert person.subjects() == ["first"]
    assert person.status() == []
    subprocess.run(error.suggestions[0], shell=True, check=True, env=person.environ)
    written(person)


def hook(person: Person, name: str, text: str) -> None:
    path = person.root / ".git" / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_hooks_do_not_run_unless_they_are_wanted(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    log = tmp_path / "log"
    for name in (
        "pre-commit",
        "commit-msg",
        "post-commit",
        "post-index-change",
        "reference-transaction",
        "prepare-commit-msg",
    ):
        hook(person, name, f"echo {name} >> {log}; exit 1")
    with person.repo() as repo:
        assert repo.commit([Put("x.html", b"x")], "x\n", AT) is not None
    assert not log.exists()


def test_hooks_that_are_wanted_see_the_commit_and_may_refuse_it(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    person.write("staged.html", "mine")
    person.git("add", "staged.html")
    hook(person, "pre-commit", f"git diff --cached --name-only > {tmp_path}/seen; ! grep -q bad {tmp_path}/seen")
    hook(person, "commit-msg", 'echo >> "$1"; echo "Checked-By: hook" >> "$1"')
    hook(person, "post-commit", f"git log -1 --format=%s > {tmp_path}/after")
    with person.repo(hooks=True) as repo:
        repo.commit([Put("x.html", b"x")], "x\n", AT)
        assert (tmp_path / "seen").read_text() == "x.html\n"
        assert (tmp_path / "after").read_text() == "x\n"
        with pytest.raises(FabulaError) as caught:
            repo.commit([Put("bad.html", b"x")], "bad\n", AT)
    assert caught.value.code == "ERR_GIT"
    assert "pre-commit" in caught.value.message
    assert "Checked-By: hook" in person.git("log", "-1", "--format=%B")
    assert person.status() == ["A  staged.html"]


def test_what_is_no_repository_of_its_own_is_refused(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    plain = tmp_path / "plain"
    plain.mkdir()
    bare = tmp_path / "bare"
    person.git("init", "--quiet", "--bare", str(bare))
    for place, code in (
        (person.root / "areas", "ERR_GIT"),
        (plain, "ERR_GIT"),
        (bare, "ERR_GIT"),
        (person.root / ".git", "ERR_GIT"),
        (tmp_path / "nowhere", "ERR_PATH"),
    ):
        with pytest.raises(FabulaError) as caught:
            Repo(place, person.environ)
        assert caught.value.code == code, place


def test_a_hook_of_another_repository_that_calls_us_does_not_lead_us_astray(tmp_path: Path) -> None:
    person = made(tmp_path / "ours", files=FIRST)
    other = made(tmp_path / "other", files={"x.html": "x"})
    person.environ |= {
        "GIT_DIR": str(other.root / ".git"),
        "GIT_WORK_TREE": str(other.root),
        "GIT_INDEX_FILE": str(other.root / ".git" / "index"),
        "GIT_OBJECT_DIRECTORY": str(other.root / ".git" / "objects"),
        "GIT_CONFIG_PARAMETERS": "'user.name'='Nobody'",
    }
    with person.repo() as repo:
        repo.commit([Put("areas/new.html", b"n")], "ours\n", AT)
    assert other.subjects() == ["first"]
    clean = Person(person.root)
    assert clean.subjects() == ["ours", "first"]
    assert clean.git("log", "-1", "--format=%an") == "Ada"


def test_a_repository_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root writes everywhere")
    person = made(tmp_path, files=FIRST)
    (person.root / ".git").chmod(0o500)
    try:
        assert refused(person).code == "ERR_READ_ONLY"
    finally:
        (person.root / ".git").chmod(0o700)


def test_a_missing_git_program_is_named(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    person.environ["PATH"] = str(tmp_path / "nothing")
    with pytest.raises(FabulaError) as caught:
        person.repo()
    assert caught.value.code == "ERR_GIT"
    assert "not found" in caught.value.message


def test_a_damaged_index_is_refused_not_rewritten(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    index = person.root / ".git" / "index"
    data = bytearray(index.read_bytes())
    data[80] ^= 255
    index.write_bytes(data)
    error = refused(person)
    assert error.code == "ERR_GIT"
    assert index.read_bytes() == bytes(data)
    subprocess.run(error.suggestions[0].split(": ", 1)[1], shell=True, check=True, env=person.environ)
    written(person)
