"""Commands that are told are safe to run."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.kernel.commands import record_command


@pytest.mark.parametrize("uid", ["0b18b2d1-97a6-4297-abaf-62c95958b8df", "fab-25_4", "msg_1"])
def test_a_common_id_stays_as_it_is(uid: str) -> None:
    assert record_command("thread", uid) == f"fabula record thread {uid}"


def test_what_a_shell_would_run_is_quoted() -> None:
    assert record_command("thread", "$(reboot)") == "fabula record thread '$(reboot)'"


@given(st.text())
def test_an_id_is_one_word_and_never_a_flag(uid: str) -> None:
    words = shlex.split(record_command("block", uid))
    assert words[-1] == uid
    assert not uid.startswith("-") or words[-2] == "--"
