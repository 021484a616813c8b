"""Output arrives whole, carries no foreign escape sequences, and is valid JSON whatever it says."""

from __future__ import annotations

import json
import math
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.cli.output import Out, open_output, to_json, write_whole
from fabula.kernel.errors import FabulaError


def collect(*, styled: bool = False) -> tuple[Out, list[bytes]]:
    written: list[bytes] = []
    return Out(written.append, styled=styled), written


@pytest.mark.parametrize("blocking", [True, False])
def test_more_than_a_megabyte_through_a_slow_pipe_arrives_whole(blocking: bool) -> None:
    data = os.urandom(1_300_000)
    reader, writer = os.pipe()
    os.set_blocking(writer, blocking)
    received = bytearray()

    def read_slowly() -> None:
        while part := os.read(reader, 50_000):
            received.extend(part)
            time.sleep(0.001)

    thread = threading.Thread(target=read_slowly)
    thread.start()
    write_whole(writer, data)
    os.close(writer)
    thread.join()
    os.close(reader)
    assert bytes(received) == data


def test_a_closed_pipe_is_a_broken_pipe_and_not_a_disk_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with pytest.raises(BrokenPipeError):
        write_whole(writer, b"x")
    os.close(writer)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
def test_a_full_disk_behind_standard_output_is_said() -> None:
    handle = os.open("/dev/full", os.O_WRONLY)
    with pytest.raises(FabulaError) as caught:
        write_whole(handle, b"x")
    os.close(handle)
    assert caught.value.code == "ERR_DISK"


def test_control_characters_of_recorded_text_never_reach_the_terminal() -> None:
    out, written = collect(styled=True)
    out.line("a\x1b]0;title\x07b\x9b31m\x7f\tend")
    out.flush()
    text = b"".join(written).decode()
    assert text == "a␛]0;title␇b\ufffd31m␡\tend\n"


@pytest.mark.parametrize("letter", ["\u202a", "\u202e", "\u2066", "\u2069"])
def test_a_mark_that_turns_a_line_round_is_shown_and_never_obeyed(letter: str) -> None:
    out, written = collect()
    out.line(f"rm {letter}safe")
    out.flush()
    assert b"".join(written).decode() == "rm \ufffdsafe\n"
    data = to_json({"text": letter})
    assert data.isascii()
    assert json.loads(data) == {"text": letter}


def test_json_carries_no_control_character_as_it_is() -> None:
    data = to_json({"text": "a\x1b[31m\x07\x7f\x9b31m"})
    assert not any(byte < 32 for byte in data[:-1])
    assert not any(127 <= ord(letter) < 160 for letter in data.decode())
    assert json.loads(data) == {"text": "a\x1b[31m\x07\x7f\x9b31m"}


def test_styles_are_escape_sequences_on_terminals_alone() -> None:
    styled, on_terminal = collect(styled=True)
    plain, elsewhere = collect()
    for out in (styled, plain):
        out.line(f"{out.bold('a')} {out.dim('b')} {out.mark('c')}")
        out.flush()
    assert b"".join(on_terminal) == b"\x1b[1ma\x1b[0m \x1b[2mb\x1b[0m \x1b[1;33mc\x1b[0m\n"
    assert b"".join(elsewhere) == b"a b c\n"


def test_bytes_are_written_as_they_are() -> None:
    out, written = collect()
    out.raw(b"\x00\xff\x1b")
    out.flush()
    assert written == [b"\x00\xff\x1b"]


def test_a_closed_standard_stream_swallows_output() -> None:
    out = open_output(None, {})
    assert not out.styled
    out.line("nobody listens")
    out.flush()


def test_no_color_and_dumb_terminals_get_no_styles() -> None:
    master, slave = os.openpty()
    try:
        with open(slave, "w", closefd=False) as stream:
            assert open_output(stream, {"TERM": "xterm"}).styled
            assert not open_output(stream, {"TERM": "xterm", "NO_COLOR": "1"}).styled
            assert not open_output(stream, {"TERM": "dumb"}).styled
    finally:
        os.close(master)
        os.close(slave)


@dataclass
class Part:
    path: Path
    data: bytes
    names: set[str]


def test_dataclasses_paths_bytes_and_sets_have_a_json_form() -> None:
    line = to_json({"part": Part(Path("/a"), b"\xffx", {"b", "a"})})
    assert json.loads(line) == {"part": {"path": "/a", "data": "\udcffx", "names": ["a", "b"]}}
    with pytest.raises(TypeError):
        to_json(object())


def test_what_json_cannot_say_becomes_null() -> None:
    assert json.loads(to_json([math.nan, math.inf, 1.5])) == [None, None, 1.5]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda v: st.lists(v) | st.dictionaries(st.text(), v)
    )
)
def test_any_value_is_one_line_of_json_that_reads_back(value: object) -> None:
    line = to_json(value)
    assert line.count(b"\n") == 1
    assert json.loads(line) == value
