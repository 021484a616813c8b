"""A corpus in which two hundred files are no memories: everything goes on around them, and they are named."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import User

KINDS = (
    b"", b"<broken", b"\xff\xfe\x00", b"<!doctype html><title>x</title>", b"{}", b"<article>" * 400,
    b'<meta name="memhtml-type" content="odd">', b"<!--", b"\0" * 5000, b"<title>a</title><title>b</title>",
)  # fmt: skip
NUMBER = 200


@pytest.fixture
def user(tmp_path: Path) -> User:
    (tmp_path / "user").mkdir()
    user = User(tmp_path / "user")
    assert user.run("init", "--memory").status == 0
    assert user.run("memory", "write", "--type", "semantic", "--claim", "The pool is 64.").status == 0
    for number in range(NUMBER):
        folder = user.record / "memory" / ("areas/inbox", "projects/x", "resources", "archive/2026/areas")[number % 4]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"broken-{number}.html").write_bytes(KINDS[number % len(KINDS)])
    return user


def test_two_hundred_broken_files_stop_nothing_and_are_named(user: User) -> None:
    found = user.run("memory", "search", "pool", "--all")
    assert [hit["path"] for hit in found.data["hits"]] == ["areas/inbox/the-pool-is-64.html"]
    assert any(f"{NUMBER} files are no memory" in notice for notice in found.data["notices"])
    written = user.run("memory", "write", "--type", "semantic", "--claim", "The sky is blue.")
    assert written.data["created"]
    assert user.run("memory", "correct", written.data["path"], "--claim", "The sky is grey.").status == 0
    rebuilt = user.run("memory", "index", "rebuild")
    assert rebuilt.status == 0
    assert len({problem["path"] for problem in rebuilt.data["problems"]}) == NUMBER
    listed = user.run("memory", "list", "--include-archived").data
    assert [memory["claim"] for memory in listed["memories"]].count("The sky is grey.") == 1
    assert listed["total"] == 3
    checks = {check["name"]: check for check in user.run("doctor").data["checks"]}
    assert checks["memory files"]["state"] == "bad"
    assert "more" in checks["memory files"]["message"]
    assert checks["memory index"]["state"] == "good"
    assert user.run("recall", "pool").data["memories"][0]["path"] == "areas/inbox/the-pool-is-64.html"
