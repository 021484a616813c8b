"""One change is one commit, beside whatever a person does in the same repository."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from gitcorpus import AT, made

from fabula.kernel.errors import FabulaError
from fabula.storage.git.message import message_text
from fabula.storage.git.values import Move, Put, Remove

FIRST = {"areas/inbox/a.html": "<p>a</p>\n", "areas/inbox/b.html": "<p>b</p>\n", "README.html": "<p>read</p>\n"}


def refusal(call: object) -> FabulaError:
    with pytest.raises(FabulaError) as caught:
        call()  # type: ignore[operator]
    return caught.value


def test_a_write_is_one_commit_of_one_file_and_leaves_everything_clean(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    before = person.git("rev-parse", "HEAD")
    with person.repo() as repo:
        done = repo.commit(
            [Put("projects/new/c.html", b"<p>c</p>\n")],
            message_text("fabula(write): c", trailers=[("Fabula-Session", "s1")]),
            AT,
        )
    assert done is not None
    assert (done.id, done.parent) == (person.git("rev-parse", "HEAD"), before)
    assert person.git("rev-parse", "HEAD^") == before
    assert person.git("diff-tree", "-r", "--name-status", "HEAD^", "HEAD") == "A\tprojects/new/c.html"
    assert done.blobs == {"projects/new/c.html": person.blob("projects/new/c.html")}
    assert person.git("log", "-1", "--format=%an <%ae> %at%n%B") == (
        "Ada <ada@example.org> 1700000000\nfabula(write): c\n\nFabula-Session: s1"
    )
    assert person.git("log", "-1", "--format=%(trailers:key=Fabula-Session,valueonly)") == "s1"
    assert person.status() == []
    assert (person.root / "projects/new/c.html").read_bytes() == b"<p>c</p>\n"
    assert person.git("fsck", "--strict", "--full") == ""
    assert "commit: fabula(write): c" in person.git("reflog", "-1")


def test_the_same_changes_at_the_same_moment_give_the_same_commit(tmp_path: Path) -> None:
    ids = set()
    for name in ("one", "two"):
        person = made(tmp_path / name)
        with person.repo() as repo:
            done = repo.commit([Put("areas/x.html", b"x"), Put("areas/y.html", b"y")], "both\n", AT)
            assert done is not None
            ids.add(done.id)
    assert len(ids) == 1


def test_a_branch_without_commits_gets_its_first(tmp_path: Path) -> None:
    person = made(tmp_path)
    with person.repo() as repo:
        assert repo.head() == ""
        done = repo.commit([Put("areas/inbox/a.html", b"a")], "first\n", AT)
        assert done is not None
        assert done.parent == ""
    assert person.subjects() == ["first"]
    assert person.status() == []


def test_replacing_moving_and_removing_are_one_commit_and_git_sees_the_move(tmp_path: Path) -> None:
    long = "".join(f"<p>line {number}</p>\n" for number in range(40))
    person = made(tmp_path, files={**FIRST, "areas/long.html": long})
    with person.repo() as repo:
        done = repo.commit(
            [
                Put("areas/inbox/a.html", b"<p>a2</p>\n", replaces=person.blob("areas/inbox/a.html")),
                Move("areas/long.html", "archive/2026/areas/long.html", data=long.encode() + b"<p>stamp</p>\n"),
                Move("README.html", "archive/2026/README.html"),
                Remove("areas/inbox/b.html"),
            ],
            "all\n",
            AT,
        )
    assert done is not None
    rows = person.git("diff-tree", "-r", "-M", "--name-status", "HEAD^", "HEAD").splitlines()
    assert sorted(row.split("\t")[0][:1] for row in rows) == ["D", "M", "R", "R"]
    assert person.status() == []
    assert not (person.root / "areas/long.html").exists()
    assert person.subjects() == ["all", "first"]
    assert person.git("log", "--follow", "--format=%s", "--", "archive/2026/areas/long.html") == "all\nfirst"


def test_folders_that_a_change_leaves_empty_go(tmp_path: Path) -> None:
    person = made(tmp_path, files={"a/b/c/one.html": "1", "a/two.html": "2"})
    with person.repo() as repo:
        repo.commit([Move("a/b/c/one.html", "archive/one.html")], "move\n", AT)
    assert sorted(path.name for path in person.root.joinpath("a").iterdir()) == ["two.html"]


def test_changes_that_change_nothing_are_no_commit(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    before = person.git("rev-parse", "HEAD")
    same = Put("areas/inbox/a.html", b"<p>a</p>\n", replaces=person.blob("areas/inbox/a.html"))
    with person.repo() as repo:
        assert repo.commit([same], "nothing\n", AT) is None
        assert repo.commit([], "nothing\n", AT) is None
    assert person.git("rev-parse", "HEAD") == before


def test_what_a_person_staged_is_not_taken_along_and_stays_staged(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    person.write("staged.html", "mine")
    person.git("add", "staged.html")
    person.git("rm", "--quiet", "--cached", "areas/inbox/b.html")
    person.write("README.html", "<p>changed</p>\n")
    person.git("add", "README.html")
    person.write("README.html", "<p>changed again</p>\n")
    person.write("loose.html", "untracked")
    before = sorted(person.status())
    with person.repo() as repo:
        repo.commit([Put("areas/new.html", b"n")], "ours\n", AT)
    assert person.git("diff-tree", "-r", "--name-status", "HEAD^", "HEAD") == "A\tareas/new.html"
    assert sorted(person.status()) == before
    person.git("commit", "--quiet", "-m", "theirs")
    assert "areas/new.html" in person.git("ls-tree", "-r", "--name-only", "HEAD")
    assert "staged.html" in person.git("ls-tree", "-r", "--name-only", "HEAD")


@pytest.mark.parametrize("how", ["changed", "staged", "deleted", "unstaged deletion", "announced"])
def test_a_persons_change_at_the_path_is_never_overwritten(tmp_path: Path, how: str) -> None:
    person = made(tmp_path, files=FIRST)
    path = "areas/inbox/a.html"
    blob = person.blob(path)
    change = Put(path, b"ours", replaces=blob)
    if how == "changed":
        person.write(path, "mine")
    elif how == "staged":
        person.write(path, "mine")
        person.git("add", path)
        person.write(path, FIRST[path])
    elif how == "deleted":
        (person.root / path).unlink()
    elif how == "unstaged deletion":
        person.git("rm", "--quiet", "--cached", path)
    else:
        path = "new.html"
        person.write(path, "mine")
        person.git("add", "-N", path)
        change = Put(path, b"ours")
    before, head = person.status(), person.git("rev-parse", "HEAD")
    with person.repo() as repo:
        error = refusal(lambda: repo.commit([change, Put("other.html", b"x")], "ours\n", AT))
    assert error.code == "ERR_DIRTY"
    assert person.status() == before
    assert person.git("rev-parse", "HEAD") == head
    assert not (person.root / "other.html").exists()
    subprocess.run(error.suggestions[0], shell=True, check=True, capture_output=True, env=person.environ)
    with person.repo() as repo:  # the suggested command cleared it: the path is a matter of versions now
        with repo.writing() as turn:
            entry = turn.find(path)
        if how == "unstaged deletion":
            (person.root / path).unlink()
        if how == "staged":
            person.git("checkout", "--", path)
        assert repo.commit([Put(path, b"ours", replaces=entry.id if entry else "")], "ours\n", AT) is not None
    assert person.status() == []


def test_a_file_that_stands_in_the_work_tree_as_it_shall_be_is_taken_in(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    person.write("areas/hand.html", "by hand")
    with person.repo() as repo:
        done = repo.commit([Put("areas/hand.html", b"by hand")], "taken in\n", AT)
    assert done is not None
    assert person.status() == []


def test_an_occupied_path_and_a_stale_version_are_conflicts(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    person.write("areas/untracked.html", "mine")
    blob = person.blob("areas/inbox/b.html")
    wrong = [
        Put("areas/inbox/a.html", b"x"),
        Put("areas/inbox/a.html", b"x", replaces=blob),
        Put("gone.html", b"x", replaces=blob),
        Put("areas/untracked.html", b"x"),
        Put("areas/inbox", b"x"),
        Put("README.html/deeper.html", b"x"),
        Put("Areas/new.html", b"x"),
        Put("areas/inbox/A.html", b"x"),
        Move("areas/inbox/a.html", "areas/inbox/b.html"),
        Remove("never.html"),
    ]
    with person.repo() as repo:
        for change in wrong:
            assert refusal(lambda change=change: repo.commit([change], "no\n", AT)).code == "ERR_WRITE_CONFLICT", change
    assert person.status() == ["?? areas/untracked.html"]
    assert person.subjects() == ["first"]


def test_no_path_leaves_the_root(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "target.html").write_text("outside")
    os.symlink(outside, person.root / "linked")
    os.symlink(outside / "target.html", person.root / "areas" / "link.html")
    os.symlink(person.root / ".git", person.root / "gitlink")
    wrong = [
        "../x.html", "/etc/x.html", "a/../../x.html", "a//x.html", "./x.html", "", "a/.git/x.html", ".GIT/config",
        ".git", "git~1/x.html", ".g\u200cit/config",
        "a\\..\\x.html", "con.html", "a./x.html", "x\0.html", "new\nline.html",
        "C:x.html", "a" * 300, "linked/x.html", "linked/target.html", "areas/link.html", "gitlink/x",
    ]  # fmt: skip
    with person.repo() as repo:
        for path in wrong:
            error = refusal(lambda path=path: repo.commit([Put(path, b"x")], "no\n", AT))
            assert error.code == "ERR_PATH", (path, error.message)
    assert [path.name for path in outside.iterdir()] == ["target.html"]
    assert (outside / "target.html").read_text() == "outside"
    assert person.subjects() == ["first"]


def test_a_link_in_the_repository_is_no_file(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    os.symlink("inbox/a.html", person.root / "areas" / "link.html")
    person.git("add", "-A")
    person.git("commit", "--quiet", "-m", "link")
    with person.repo() as repo:
        for change in (Remove("areas/link.html"), Move("areas/link.html", "x.html")):
            assert refusal(lambda change=change: repo.commit([change], "no\n", AT)).code == "ERR_PATH"


def test_an_ignored_path_is_refused_unless_it_is_meant(tmp_path: Path) -> None:
    person = made(tmp_path, files={".gitignore": "secret/\n"})
    with person.repo() as repo:
        error = refusal(lambda: repo.commit([Put("secret/x.html", b"x")], "no\n", AT))
        assert error.code == "ERR_PATH"
        with repo.writing() as turn:
            assert turn.commit([Put("secret/x.html", b"x")], "meant\n", AT, ignored_too=True) is not None
    assert person.status() == []


def test_one_path_twice_in_a_commit_is_refused(tmp_path: Path) -> None:
    person = made(tmp_path)
    with person.repo() as repo:
        error = refusal(lambda: repo.commit([Put("a.html", b"1"), Put("a.html", b"2")], "no\n", AT))
    assert error.code == "ERR_PATH"


def test_a_batch_of_many_is_one_commit(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    changes = [Put(f"areas/t{number % 7}/m{number}.html", f"<p>{number}</p>".encode()) for number in range(400)]
    with person.repo() as repo:
        done = repo.commit(changes, "many\n", AT)
        assert done is not None
        assert len(done.blobs) == 400
        assert repo.commit([Put("one-more.html", b"x")], "one\n", AT) is not None
    assert person.subjects() == ["one", "many", "first"]
    assert person.status() == []
    assert person.git("fsck", "--strict", "--full") == ""


def test_a_program_stays_one_and_permissions_are_kept(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    script = person.write("tool.sh", "old")
    script.chmod(0o755)
    person.git("add", "-A")
    person.git("commit", "--quiet", "-m", "tool")
    with person.repo() as repo:
        repo.commit([Put("tool.sh", b"new", replaces=person.blob("tool.sh")), Put("x.html", b"x")], "t\n", AT)
    assert person.git("ls-tree", "HEAD", "tool.sh").startswith("100755")
    assert script.stat().st_mode & 0o777 == 0o755
    assert (person.root / "x.html").stat().st_mode & 0o777 == 0o600
    assert person.status() == []


def test_a_decision_and_its_commit_are_one_turn(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    with person.repo() as repo, repo.writing() as turn:
        number = 1
        while turn.find(f"areas/inbox/{'a' if number == 1 else f'a-{number}'}.html"):
            number += 1
        assert turn.commit([Put(f"areas/inbox/a-{number}.html", b"x")], "one\n", AT) is not None
        assert turn.find("areas/inbox/a-2.html") is not None
        assert turn.commit([Put("areas/inbox/c.html", b"x")], "two\n", AT) is not None
    assert person.subjects() == ["two", "one", "first"]
    assert person.status() == []


def test_a_failure_inside_a_turn_leaves_no_lock(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    with person.repo() as repo:
        with pytest.raises(KeyboardInterrupt), repo.writing():
            raise KeyboardInterrupt
        assert repo.commit([Put("x.html", b"x")], "x\n", AT) is not None
    assert not (person.root / ".git" / "index.lock").exists()


def test_names_in_any_script_are_written(tmp_path: Path) -> None:
    person = made(tmp_path)
    paths = ["areas/記憶/事実.html", "areas/mit leer.html", "areas/ümlaut.html", "areas/🙂.html"]
    with person.repo() as repo:
        repo.commit([Put(path, path.encode()) for path in paths], "names\n", AT)
        assert (
            refusal(lambda: repo.commit([Put("areas/u\u0308mlaut.html", b"x")], "n\n", AT)).code == "ERR_WRITE_CONFLICT"
        )
    assert person.status() == []
