"""Whether a later successful call did what a failed one tried."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.kernel.records import Block
from fabula.record.failures.resolution import Hints, resolves, subject


def bash(command: object) -> Block:
    return Block("call", tool="Bash", tool_id="t", input={"command": command})


def call(tool: str, /, **given: object) -> Block:
    return Block("call", tool=tool, tool_id="t", input=given)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pytest -q tests/a.py", "$ pytest"),
        ("cd shop && CI=1 timeout 60 .venv/bin/python -m pytest -q", "$ pytest"),
        ("uv run pytest tests", "$ pytest"),
        ("npm run build -- --prod", "$ npm build"),
        ("npm test", "$ npm test"),
        ("cargo test --workspace 2>&1 | tail -20", "$ cargo test"),
        ("python scripts/load.py --all", "$ python load.py"),
        ("python -c 'print(1)'", "$ python"),
        ("sudo /usr/bin/make install", "$ make install"),
        ("cd /tmp", "$ cd"),
        ("", "$ "),
        (7, "$ "),
    ],
)
def test_the_subject_of_a_command_is_its_head(command: object, expected: str) -> None:
    assert subject(bash(command)) == expected


def test_other_calls_are_about_a_file_or_what_identifies_them() -> None:
    assert subject(call("Edit", file_path="/a/b.py", old_string="x", new_string="y")) == "change b.py"
    assert subject(call("Read", file_path="/a/b.py")) == "read b.py"
    assert subject(call("WebFetch", url="https://shop.example", prompt="x")) == "WebFetch https://shop.example"
    assert subject(call("ExitPlanMode")) == "ExitPlanMode"


RESOLVED = [
    (bash("pytest tests/a.py::test_b"), bash("pytest tests/a.py::test_b -x")),
    (bash("pytest tests/a.py::test_b"), bash("pytest tests/a.py")),
    (bash("pytest tests/a.py"), bash("cd shop; python -m pytest")),
    (bash("npm run build"), bash("npm run build --silent")),
    (bash("cat types/a.ts"), bash("cat types/a.ts")),
    (bash(["bash", "-lc", "cargo build"]), bash("cargo build")),
    (call("Edit", file_path="/w/a.py", old_string="x", new_string="y"), call("Write", file_path="/w/a.py", content="")),
    (call("Read", file_path="a.py"), call("Read", file_path="/w/a.py")),
    (call("WebFetch", url="https://a"), call("WebFetch", url="https://a")),
]


@pytest.mark.parametrize(("failed", "later"), RESOLVED)
def test_the_same_try_that_succeeds_resolves(failed: Block, later: Block) -> None:
    assert resolves(failed, later)


UNRESOLVED = [
    (bash("pytest tests/a.py"), bash("pytest tests/b.py")),
    (bash("pytest"), bash("pytest tests/b.py")),
    (bash("pytest"), bash("ruff check")),
    (bash("ls types/"), bash("ls")),
    (bash("cargo test"), bash("cargo build")),
    (call("Edit", file_path="/w/a.py", old_string="x", new_string="y"), call("Read", file_path="/w/a.py")),
    (call("Edit", file_path="/w/a.py", old_string="x", new_string="y"), call("Write", file_path="/v/a.py", content="")),
    (call("WebFetch", url="https://a"), call("WebFetch", url="https://b")),
    (call("WebFetch", url="https://a"), bash("curl https://a")),
]


@pytest.mark.parametrize(("failed", "later"), UNRESOLVED)
def test_another_try_resolves_nothing(failed: Block, later: Block) -> None:
    assert not resolves(failed, later)


@given(st.text(max_size=60), st.text(max_size=60))
def test_calls_that_resolve_each_other_have_one_subject(one: str, other: str) -> None:
    if resolves(bash(one), bash(other)):
        assert subject(bash(one)) == subject(bash(other))
    assert resolves(bash(one), bash(one))


_SHELL_WORDS = ["cargo", "test", "npm", "run", "python", "-m", "pytest", "'git'", "./bin/x", "uv", "A=1", "&&", ";",
                "cd", "/tmp", "sudo", "node", "a\\b.js", ">", "out", "-c", '"x y"', "git", "diff"]  # fmt: skip
_CALLS = st.one_of(
    st.builds(
        lambda tool, words: Block("call", "", tool, "t", {"command": " ".join(words)}),
        st.sampled_from(["Bash", "shell"]), st.lists(st.sampled_from(_SHELL_WORDS), max_size=6),
    ),
    st.builds(
        lambda tool, path: Block("call", "", tool, "t", {"file_path": path, "content": "x"}),
        st.sampled_from(["Edit", "Write", "Read", "mcp__fs__read_file", "WebFetch", "Two words"]),
        st.sampled_from(["/a/x.py", "x.py", "", "/b/y.py"]),
    ),
)  # fmt: skip


@given(_CALLS, _CALLS)
def test_hints_never_hide_a_call_with_an_open_subject(failed: Block, later: Block) -> None:
    hints = Hints()
    hints.add(failed.tool, subject(failed))
    if subject(failed) == subject(later):
        assert hints.allow(later)
