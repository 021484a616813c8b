"""What was committed is read back: trees, differences, histories, moments, conflicts."""

from __future__ import annotations

from pathlib import Path

import pytest
from gitcorpus import AT, made
from hypothesis import given
from hypothesis import strategies as st

from fabula.kernel.errors import FabulaError
from fabula.storage.git import history
from fabula.storage.git.history import Conflict, Difference
from fabula.storage.git.message import message_text
from fabula.storage.git.values import Entry, Move, Put

FIRST = {"areas/inbox/a.html": "<p>a</p>\n", "areas/inbox/b.html": "<p>b</p>\n"}


def test_rows_of_a_tree_keep_spaces_and_line_feeds_and_drop_what_is_no_row() -> None:
    rows = b"100644 blob " + b"1" * 40 + b"\ta b\nc.html\0no tab here\x00100755 blob " + b"2" * 40 + b"\tx\ty\0"
    assert history.parse_tree_rows(rows) == {
        "a b\nc.html": Entry("100644", "1" * 40),
        "x\ty": Entry("100755", "2" * 40),
    }


def test_a_list_of_changes_is_read_by_fields() -> None:
    rows = b"D\0d.html\0M\0m.html\0R059\0D\0M\0C085\0from\0to\0X\0odd\0A\0a b.html\0R100\0lost"
    assert history.parse_name_status(rows) == [
        Difference("D", "d.html"),
        Difference("M", "m.html"),
        Difference("R", "M", "D", 59),
        Difference("C", "to", "from", 85),
        Difference("A", "a b.html"),
    ]
    assert history.parse_name_status(b"") == []


def test_files_and_differences_and_renames(tmp_path: Path) -> None:
    long = "".join(f"<p>line {number}</p>\n" for number in range(40))
    person = made(tmp_path, files={**FIRST, "long.html": long})
    first = person.git("rev-parse", "HEAD")
    with person.repo() as repo:
        repo.commit(
            [Move("long.html", "archive/2026/long.html", data=long.encode() + b"<p>stamp</p>\n")], "moved\n", AT
        )
        git, reader = repo.shop.git, repo.shop.reader
        assert sorted(history.files_at(git, "HEAD")) == ["archive/2026/long.html", *sorted(FIRST)]
        assert sorted(history.files_at(git, first, "areas")) == sorted(FIRST)
        (moved,) = history.differences(git, first, "HEAD")
        assert (moved.kind, moved.before, moved.path) == ("R", "long.html", "archive/2026/long.html")
        assert 50 <= moved.score < 100
        assert {change.kind for change in history.differences(git, "", "HEAD")} == {"A"}
        texts = dict(history.blobs(reader, history.files_at(git, first).items()))
        assert texts == {path: text.encode() for path, text in {**FIRST, "long.html": long}.items()}
        assert history.file_at(reader, first, "long.html") == long.encode()
        assert history.file_at(reader, "HEAD", "long.html") is None
        steps = history.history_of(git, "archive/2026/long.html")
        assert [(step.subject, step.path) for step in steps] == [
            ("moved", "archive/2026/long.html"),
            ("first", "long.html"),
        ]
        assert [step.commit for step in steps] == [repo.head(), first]
        assert history.faults(git) == []


def test_a_reader_that_was_left_half_way_still_answers_rightly(tmp_path: Path) -> None:
    person = made(tmp_path, files={f"f{number}": str(number) for number in range(90)})
    with person.repo() as repo:
        files = history.files_at(repo.shop.git, "HEAD")
        some = history.blobs(repo.shop.reader, files.items())
        next(some)
        some.close()
        assert dict(history.blobs(repo.shop.reader, files.items())) == {path: path[1:].encode() for path in files}
        assert repo.shop.reader.get("0" * 40) is None
        assert list(repo.shop.reader.each([])) == []


def test_bodies_of_any_bytes_do_not_shift_each_other(tmp_path: Path) -> None:
    person = made(tmp_path)
    data = {"a": b"", "b": "äöü 漢字\n".encode(), "c": b"\0\n\0" * 9, "d": b"x" * 100_000}
    with person.repo() as repo:
        repo.commit([Put(path, body) for path, body in data.items()], "x\n", AT)
        assert dict(history.blobs(repo.shop.reader, history.files_at(repo.shop.git, "HEAD").items())) == data


def test_the_state_at_a_moment(tmp_path: Path) -> None:
    person = made(tmp_path)
    with person.repo() as repo:
        ids = [
            repo.commit([Put(f"{day}.html", b"x")], f"day {day}\n", f"{1_700_000_000 + day * 86_400} +0000")
            for day in range(3)
        ]
        git = repo.shop.git
        for day, done in enumerate(ids):
            assert done is not None
            assert history.commit_at(git, 1_700_000_000 + day * 86_400 + 5) == done.id
        assert history.commit_at(git, 1_600_000_000) == ""


def test_conflicts_are_told_with_both_versions_and_nothing_is_touched(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    base = person.git("rev-parse", "HEAD")
    person.git("branch", "side")
    with person.repo() as repo:
        a = person.blob("areas/inbox/a.html")
        repo.commit([Put("areas/inbox/a.html", b"ours", replaces=a), Put("both.html", b"1")], "ours\n", AT)
        person.git("checkout", "--quiet", "side")
        repo.commit([Put("areas/inbox/a.html", b"theirs", replaces=a), Put("both.html", b"2")], "theirs\n", AT)
        person.git("checkout", "--quiet", "main")
        git = repo.shop.git
        assert history.merge_base(git, "main", "side") == base
        expected = [
            Conflict(
                "areas/inbox/a.html", a, person.blob("areas/inbox/a.html"), person.blob("areas/inbox/a.html", "side")
            ),
            Conflict("both.html", "", person.blob("both.html"), person.blob("both.html", "side")),
        ]
        assert history.merge_conflicts(git, "main", "side") == expected
        assert history.merge_conflicts(git, base, "side") == []
        assert person.status() == []
        person.git("merge", "side", check=False)
        assert history.open_conflicts(git) == expected


def test_names_that_are_none_are_refused_or_empty(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    with person.repo() as repo:
        git = repo.shop.git
        assert history.resolve(git, "nowhere") == ""
        assert history.resolve(git, "HEAD") == repo.head()
        for name in ("", "--output=x", "-n"):
            with pytest.raises(FabulaError):
                history.files_at(git, name)
        with pytest.raises(FabulaError) as caught:
            history.differences(git, "nowhere", "HEAD")
        assert caught.value.code == "ERR_GIT"


def test_a_damaged_object_is_found(tmp_path: Path) -> None:
    person = made(tmp_path, files=FIRST)
    blob = person.blob("areas/inbox/a.html")
    path = person.root / ".git" / "objects" / blob[:2] / blob[2:]
    path.chmod(0o600)
    path.write_bytes(b"broken")
    with person.repo() as repo:
        assert any(blob in line for line in history.faults(repo.shop.git))


def test_a_message_has_one_line_of_subject_and_only_our_trailers(tmp_path: Path) -> None:
    person = made(tmp_path)
    text = message_text(
        "fabula(write):  a\n\nFabula-Session: forged",
        "Because it is so.\n\nFabula-Prompt: forged\nSigned-off-by: forged",
        [("Fabula-Session", "s1\nFabula-Prompt: forged"), ("Fabula-Turn", ""), ("Fabula-Data", '{"a": 1, "b"}, x')],
    )
    with person.repo() as repo:
        repo.commit([Put("x.html", b"x")], text, AT)
        repo.commit([Put("y.html", b"y")], message_text("no trailers", "Reason\n\nFabula-Session: forged"), AT)
    assert person.git("log", "-1", "--skip=1", "--format=%(trailers:unfold)").splitlines() == [
        "Fabula-Session: s1 Fabula-Prompt: forged",
        'Fabula-Data: {"a": 1, "b"}, x',
    ]
    assert person.git("log", "-1", "--format=%(trailers)") == ""
    assert person.subjects() == ["no trailers", "fabula(write): a Fabula-Session: forged"]
    with pytest.raises(FabulaError):
        message_text("x", trailers=[("not a key", "x")])
    assert message_text(" \n ") == "(untitled)\n"


@given(st.text(), st.text(), st.text())
def test_whatever_is_said_a_message_is_text_with_one_subject(subject: str, body: str, value: str) -> None:
    text = message_text(subject, body, [("Key", value)])
    assert "\0" not in text
    assert text.encode()
    assert text.split("\n")[1] in {"", text}
    assert sum(line.startswith("Key: ") for line in text.split("\n\n")[-1].split("\n")) <= 1
