"""Applying edits and taking them back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.kernel.records import Block
from fabula.record.history.actions import Action, Replacement, actions
from fabula.record.history.edits import applied, inverted
from fabula.record.history.patches import apply_hunks, parse_patch
from fabula.record.history.shell import edited_in_place, heredocs


def edit(*pairs: tuple[str, str], everywhere: bool = False) -> Action:
    return Action("/a", "edit", "Edit", "t", replacements=[Replacement(old, new, everywhere) for old, new in pairs])


def patch(text: str) -> Action:
    return actions(Block("call", tool="apply_patch", input={"patch": text}), "/w")[0]


def test_replacements_apply_one_after_another() -> None:
    assert applied(edit(("a", "b"), ("b c", "d")), "a c e") == "d e"


def test_an_edit_that_does_not_apply_gives_nothing() -> None:
    assert applied(edit(("x", "y")), "a") is None
    assert applied(edit(("x", "y")), None) is None
    assert applied(edit(), "a") is None


def test_an_edit_of_nothing_makes_a_new_file_only() -> None:
    assert applied(edit(("", "new")), None) == "new"
    assert applied(edit(("", "new")), "old") is None


def test_everywhere_means_every_place() -> None:
    assert applied(edit(("a", "b"), everywhere=True), "a a") == "b b"
    assert applied(edit(("a", "b")), "a a") == "b a"


def test_appending_needs_known_contents() -> None:
    append = Action("/a", "write", "Bash", "t", content="2\n", append=True)
    assert applied(append, "1\n") == "1\n2\n"
    assert applied(append, None) is None


def test_lines_are_inserted_after_a_line() -> None:
    insert = Action("/a", "edit", "str_replace_editor", "t", content="new", insert_after=1)
    assert applied(insert, "1\n2\n") == "1\nnew\n2\n"
    assert applied(insert, "") is None


@pytest.mark.parametrize(
    "action",
    [
        edit(("a", "b"), everywhere=True),
        edit(("a", "")),
        edit(("", "b")),
        edit(),
        Action("/a", "write", "Write", "t", content="b"),
    ],
)
def test_what_cannot_be_taken_back_is_not(action: Action) -> None:
    assert inverted(action, "b") is None


def test_an_edit_whose_result_stands_twice_is_not_taken_back() -> None:
    assert inverted(edit(("a", "b")), "b b") is None


@given(st.text("ab\n", max_size=30), st.integers(0, 30), st.integers(0, 30))
def test_an_edit_taken_back_gives_what_was_before(text: str, start: int, length: int) -> None:
    old = text[start : start + length]
    if old and text.count(old) == 1:
        action = edit((old, "<<new>>"))
        after = applied(action, text)
        assert after is not None
        assert inverted(action, after) == text


# ── patches ──────────────────────────────────────────────────────────

UPDATE = """*** Begin Patch
*** Update File: a.py
@@ def two():
     pass
-    return 2
+    return 3
*** End Patch"""
BEFORE = "def one():\n    pass\n    return 2\n\ndef two():\n    pass\n    return 2\n"


def test_a_patch_changes_the_place_below_its_anchor() -> None:
    after = applied(patch(UPDATE), BEFORE)
    assert after == BEFORE[: BEFORE.rindex("2")] + "3\n"


def test_a_patch_can_be_taken_back() -> None:
    action = patch("*** Begin Patch\n*** Update File: a\n@@\n one\n-two\n+2\n three\n*** End Patch")
    assert applied(action, "one\ntwo\nthree\n") == "one\n2\nthree\n"
    assert inverted(action, "one\n2\nthree\n") == "one\ntwo\nthree\n"


def test_a_patch_that_has_no_place_does_not_apply() -> None:
    assert applied(patch(UPDATE), "something else\n") is None
    assert applied(patch(UPDATE), None) is None


def test_a_patch_may_add_at_the_end_of_a_file() -> None:
    text = "*** Begin Patch\n*** Update File: a\n@@\n two\n+three\n*** End of File\n*** End Patch"
    assert applied(patch(text), "two\none\ntwo\n") == "two\none\ntwo\nthree\n"


def test_each_file_of_a_patch_is_read_in_its_kind() -> None:
    text = (
        "*** Begin Patch\n*** Add File: n\n+1\n+2\n*** Update File: u\n*** Move to: v\n-a\n+b\n"
        "*** Delete File: d\n*** End Patch\nnoise"
    )
    files = parse_patch(text)
    assert [(file.path, file.kind, file.content, file.moved_to) for file in files] == [
        ("n", "add", "1\n2\n", ""),
        ("u", "update", "", "v"),
        ("d", "delete", "", ""),
    ]
    assert apply_hunks("a\n", files[1].hunks) == "b\n"


@given(st.text(max_size=200))
def test_no_text_breaks_the_reader_of_patches(text: str) -> None:
    for file in parse_patch("*** Begin Patch\n" + text):
        assert isinstance(apply_hunks(text, file.hunks), str | None)


# ── shell ────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("command", "content", "append"),
    [
        ("cat > f <<'EOF'\na $b\nEOF", "a $b\n", False),
        ("cat > f <<EOF\nplain\nEOF", "plain\n", False),
        ("cat > f <<EOF\n$HOME\nEOF", None, False),
        ("cat >> f <<'EOF'\nx\nEOF", "x\n", True),
        ("cat <<'EOF' > f\nx\nEOF\n", "x\n", False),
        ("cat <<-'EOF' > f\n\tx\n\tEOF", "x\n", False),
        ("tee -a f <<'EOF'\nx\nEOF", "x\n", True),
        ("cat > 'f' <<'EOF'\nnever ended", "never ended\n", False),
        ("mkdir -p d && cat > f <<'END'\nEOF\nEND\necho done", "EOF\n", False),
    ],
)
def test_a_here_document_is_a_write(command: str, content: str | None, append: bool) -> None:
    (write,) = heredocs(command, "/w")
    assert (write.path, write.content, write.append) == ("/w/f", content, append)


def test_several_here_documents_are_several_writes() -> None:
    command = "cat > a <<'E'\n1\nE\ncat > b <<'E'\n2\nE\n"
    assert [(write.path, write.content) for write in heredocs(command, "/w")] == [("/w/a", "1\n"), ("/w/b", "2\n")]


def test_a_here_document_into_a_pipe_or_a_program_writes_nothing_known() -> None:
    assert heredocs("cat <<'E' | sort > f\n1\nE", "/w") == []
    assert heredocs("psql <<'E'\nselect 1\nE", "/w") == []


def test_editors_in_place_name_their_files() -> None:
    assert edited_in_place("sed -i 's/a/b/' x.py y.py", "/w") == ["/w/x.py", "/w/y.py"]
    assert edited_in_place("perl -pi -e 's/a/b/' x.py", "/w") == ["/w/x.py"]
    assert edited_in_place("sed -n '1,5p' x.py", "/w") == []
    assert edited_in_place("sed -i 's/a/b/' $FILES", "/w") == []


@pytest.mark.parametrize("command", ["\n" * 50_000 + "sed -i", "cat <<E > f\n" * 3_000, "sed -i '" * 3_000])
def test_a_command_made_to_be_slow_ends(command: str) -> None:
    assert len(heredocs(command, "/w")) <= 1  # minutes when an expression runs wild
    assert edited_in_place(command, "/w") == []
