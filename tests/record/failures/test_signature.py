"""The signature of an error: the telling line, made comparable."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.record.failures.signature import MESSAGE_LIMIT, signature

PYTHON = """Exit code 1
Traceback (most recent call last):
  File "/home/ann/shop/run.py", line 12, in <module>
    main()
  File "/home/ann/shop/src/app.py", line 40, in main
    load("/home/ann/shop/conf.toml")
FileNotFoundError: [Errno 2] No such file or directory: '/home/ann/shop/conf.toml'
"""
CHAINED = """Traceback (most recent call last):
  File "a.py", line 1, in <module>
KeyError: 'id'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "a.py", line 3, in <module>
shop.errors.OrderError: order 17 has no id
"""
PYTEST = """============ FAILURES ============
____ test_total ____
    def test_total():
>       assert total([1, 2]) == 4
E       AssertionError: assert 3 == 4
E        +  where 3 = total([1, 2])
tests/test_total.py:5: AssertionError
FAILED tests/test_total.py::test_total - AssertionError: assert 3 == 4
"""
NODE = """/srv/shop/index.js:3
  throw new TypeError('x is not a function');
  ^

TypeError: x is not a function
    at Object.<anonymous> (/srv/shop/index.js:3:9)
"""
RUST_PANIC = (
    "thread 'main' panicked at src/main.rs:4:10:\nindex out of bounds: the len is 3 but the index is 7\nnote: run"
)
OLD_PANIC = "thread 'main' panicked at 'no entry found for key', src/main.rs:4:10"
CARGO = """   Compiling shop v0.1.0 (/home/ann/shop)
error[E0308]: mismatched types
 --> src/main.rs:4:18
error: could not compile `shop` due to previous error
"""
JAVA = """Exception in thread "main" java.lang.RuntimeException: start failed
\tat shop.Main.main(Main.java:9)
Caused by: java.net.ConnectException: Connection refused
\t... 1 more
"""
NPM = """npm ERR! code ENOENT
npm ERR! path /srv/shop/package.json
npm ERR! enoent Could not read package.json
npm ERR! A complete log of this run can be found in: /root/.npm/_logs/2026-01-02.log
"""
GO_TEST = "--- FAIL: TestTotal (0.00s)\n    total_test.go:9: got 3, want 4\nFAIL\nexit status 1"

TELLING = [
    (PYTHON, "FileNotFoundError: [Errno 2] No such file or directory: 'conf.toml'"),
    (CHAINED, "shop.errors.OrderError: order <n> has no id"),
    (PYTEST, "AssertionError: assert <n> == <n>"),
    (NODE, "TypeError: x is not a function"),
    (RUST_PANIC, "panicked: index out of bounds: the len is <n> but the index is <n>"),
    (OLD_PANIC, "panicked: 'no entry found for key', main.rs:<n>"),
    (CARGO, "error[E0308]: mismatched types"),
    (JAVA, "java.net.ConnectException: Connection refused"),
    (NPM, "npm ERR! enoent Could not read package.json"),
    (GO_TEST, "--- FAIL: TestTotal"),
    ("panic: integer divide by zero\n\ngoroutine 1 [running]:", "panic: integer divide by zero"),
    ("src/a.ts(3,5): error TS2304: Cannot find name 'total'.", "error TS2304: Cannot find name 'total'."),
    ("a.c:3:5: error: expected ';' before 'return'", "error: expected ';' before 'return'"),
    ("Exit code 127\n/bin/sh: 1: pnpm: not found", "sh: <n>: pnpm: not found"),
    ("Exit code 127\nbash: line 1: pnpm: command not found", "pnpm: command not found"),
    ("(eval):1: command not found: pnpm", "command not found: pnpm"),
    ("Exit code 128\nfatal: not a git repository: .git", "fatal: not a git repository: .git"),
    ("<tool_use_error>File does not exist.</tool_use_error>", "File does not exist."),
    ("Exit code 3", "Exit code 3"),
    ("lots of words\nthe build failed for a reason\nmore", "the build failed for a reason"),
    ("** (RuntimeError) no key configured", "** (RuntimeError) no key configured"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), TELLING)
def test_the_telling_line_of_each_kind_of_output_is_chosen(text: str, expected: str) -> None:
    made = signature(text)
    assert made is not None
    assert made[0] == expected


def test_the_message_is_the_line_as_it_was() -> None:
    made = signature(PYTHON)
    assert made is not None
    assert made[1] == "FileNotFoundError: [Errno 2] No such file or directory: '/home/ann/shop/conf.toml'"


SAME = [
    (PYTHON, PYTHON.replace("/home/ann/shop", "/tmp/build-77").replace("line 40", "line 41")),
    ("\x1b[31mError: Cannot find module 'left-pad'\x1b[0m", "Error: Cannot find module 'left-pad'"),
    (
        "ValueError: bad id 3f2a9c41-77aa-4c55-9f00-8d2f6b7a1c22",
        "ValueError: bad id 00000000-0000-4000-8000-00000000000a",
    ),
    ("RuntimeError: took 3.5 s at 2026-01-02T03:04:05Z", "RuntimeError: took 12 s at 2025-11-30T23:00:00Z"),
    ("Error: object at 0x7f3a10 is gone", "Error: object at 0xdeadbeef is gone"),
    ("fatal: bad object 1a2b3c4d5e6f7a8b", "fatal: bad object 9f8e7d6c5b4a3928"),
    ("Error: GET http://localhost:3000/a?x=1 failed", "Error: GET https://shop.example/b failed"),
    ("OSError: cannot open '/home/a/pricing engine/x.db'", "OSError: cannot open '/srv/b/x.db'"),
    ("OSError: cannot open C:\\work\\x.db", "OSError: cannot open /srv/b/x.db"),
    ("error: src/deep/mod.rs is broken", "error: lib/mod.rs is broken"),
    ("KeyError: 'a'\r\n", "KeyError: 'a'"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_error_in_another_place_or_run_has_the_same_signature(one: str, other: str) -> None:
    left, right = signature(one), signature(other)
    assert left is not None
    assert right is not None
    assert left[0] == right[0]


DIFFERENT = [
    ("KeyError: 'id'", "KeyError: 'name'"),
    ("Exit code 1", "Exit code 127"),
    ("Error: request failed with status 404", "Error: request failed with status 500"),
    ("error[E0308]: mismatched types", "error[E0277]: mismatched types"),
    ("ModuleNotFoundError: No module named 'numpy'", "ModuleNotFoundError: No module named 'pandas'"),
    ("cp: cannot stat 'a.txt': No such file or directory", "cp: cannot stat 'b.txt': No such file or directory"),
    ("Error: no such device (os error 6)", "Error: no such device (os error 2)"),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_errors_have_different_signatures(one: str, other: str) -> None:
    left, right = signature(one), signature(other)
    assert left is not None
    assert right is not None
    assert left[0] != right[0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n ",
        "The user doesn't want to proceed with this tool use. The tool use was rejected",
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        "[Request interrupted by user for tool use]",
    ],
)
def test_what_a_person_refused_or_nothing_said_is_no_failure(text: str) -> None:
    assert signature(text) is None


def test_the_ends_of_a_long_output_are_enough() -> None:
    made = signature("ok\n" * 100_000 + PYTHON)
    assert made is not None
    assert made[0].startswith("FileNotFoundError")


def test_a_message_is_bounded() -> None:
    made = signature("ValueError: " + "x y " * 2000)
    assert made is not None
    assert len(made[1]) == MESSAGE_LIMIT


@given(st.text(max_size=400))
def test_any_text_gives_a_signature_or_none(text: str) -> None:
    made = signature(text)
    if made is not None:
        assert made[0]
        assert len(made[1]) <= MESSAGE_LIMIT
