"""Which files a record touches, for every agent's tools."""

from __future__ import annotations

import pytest

from fabula.kernel.records import Block, Kind, Record
from fabula.record.history.paths import resolve, same_file
from fabula.record.history.touches import snapshot_backups, touched


def record(*blocks: Block, kind: Kind = "call", cwd: str = "/w/shop") -> Record:
    return Record("u1", "s1", kind, "assistant", 0, 10, blocks=list(blocks), cwd=cwd)


def call(tool: str, /, **given: object) -> Block:
    return Block("call", tool=tool, tool_id="t1", input=given)


@pytest.mark.parametrize(
    ("block", "path", "operation"),
    [
        (call("Write", file_path="/a/b.py", content="x"), "/a/b.py", "write"),
        (call("Edit", file_path="src/b.py", old_string="a", new_string="b"), "/w/shop/src/b.py", "edit"),
        (call("MultiEdit", file_path="/a/./b.py", edits=[]), "/a/b.py", "edit"),
        (call("NotebookEdit", notebook_path="/a/n.ipynb", new_source="1"), "/a/n.ipynb", "edit"),
        (call("Read", file_path="/a/b.py"), "/a/b.py", "read"),
        (call("write_file", file_path="b.py", content="x"), "/w/shop/b.py", "write"),
        (call("replace", file_path="/a/b.py", old_string="a", new_string="b"), "/a/b.py", "edit"),
        (call("read_file", absolute_path="/a/b.py"), "/a/b.py", "read"),
        (call("write", filePath="/a/b.py", content="x"), "/a/b.py", "write"),
        (call("edit", filePath="/a/b.py", oldString="a", newString="b"), "/a/b.py", "edit"),
        (call("patch", patchText="*** Begin Patch\n*** Update File: b.py\n@@\n-a\n+b\n"), "/w/shop/b.py", "patch"),
        (call("apply_patch", input="*** Begin Patch\n*** Add File: n.py\n+a\n"), "/w/shop/n.py", "write"),
        (call("apply_patch", input="*** Begin Patch\n*** Delete File: n.py\n"), "/w/shop/n.py", "delete"),
        (call("shell", command=["apply_patch", "*** Begin Patch\n*** Delete File: n"]), "/w/shop/n", "delete"),
        (call("exec_command", cmd="cat > n.txt <<'EOF'\nhello\nEOF", workdir="/x"), "/x/n.txt", "write"),
        (call("shell", command=["bash", "-lc", "cat <<EOF > n.txt\nhello\nEOF\n"]), "/w/shop/n.txt", "write"),
        (call("Bash", command="cd sub && tee n.txt <<'E'\nhello\nE"), "/w/shop/sub/n.txt", "write"),
        (call("Bash", command="sed -i 's/a/b/' src/b.py"), "/w/shop/src/b.py", "edit"),
        (call("mcp__files__write_file", path="/a/b.py", content="x"), "/a/b.py", "write"),
        (call("str_replace_based_edit_tool", command="create", path="/a/b", file_text="x"), "/a/b", "write"),
        (call("Write", file_path="C:\\w\\b.py", content="x"), "C:\\w\\b.py", "write"),
    ],
)
def test_each_tool_names_its_file(block: Block, path: str, operation: str) -> None:
    assert touched(record(block)) == {path: operation}


@pytest.mark.parametrize(
    "block",
    [
        call("Write", file_path=7, content="x"),
        call("Write"),
        call("apply_patch", input=["*** Begin Patch"]),
        call("Bash", command=None),
        call("Bash", command="cat README.md"),
        call("Bash", command="cat > $OUT <<EOF\nx\nEOF"),
        call("Bash", command="python - <<'EOF'\nprint(1)\nEOF"),
        call("Grep", path="/a", pattern="x"),
        Block("call", tool="Write", input=None),
        Block("text", "I wrote src/b.py with Write"),
    ],
)
def test_what_names_no_file_touches_none(block: Block) -> None:
    assert touched(record(block)) == {}


def test_a_patch_of_several_files_touches_each_of_them() -> None:
    text = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-1\n+2\n*** Add File: c\n+x\n*** End Patch"
    operations = touched(record(call("apply_patch", input=text)))
    assert operations == {"/w/shop/a": "delete", "/w/shop/b": "patch", "/w/shop/c": "write"}


def test_a_path_that_is_read_and_then_written_in_one_record_counts_as_written_once() -> None:
    blocks = (call("Read", file_path="/a"), call("Write", file_path="/a", content="x"))
    assert touched(record(*blocks)) == {"/a": "write"}


def test_a_snapshot_touches_every_file_it_backed_up() -> None:
    table = {"src/a.py": {"backupFileName": "f00@v1"}, "/b.py": {"backupFileName": None}, "odd": 3}
    shapes = [{"backups": table}, {"trackedFileBackups": table}, {"snapshot": {"trackedFileBackups": table}}, table]
    for shape in shapes:
        snapshot = record(Block("other", input=shape), kind="snapshot")
        assert list(touched(snapshot).items()) == [
            ("/w/shop/src/a.py", "snapshot"),
            ("/b.py", "snapshot"),
        ]


def test_a_snapshot_of_a_strange_shape_touches_nothing() -> None:
    for shape in (None, {}, {"snapshot": []}, {"trackedFileBackups": ["a"]}, {"snapshot": {"trackedFileBackups": 1}}):
        assert touched(record(Block("other", input=shape), kind="snapshot")) == {}


def test_a_later_backup_of_one_file_is_found_too() -> None:
    shape = {"trackingPath": "a.py", "backup": {"backupFileName": "f@v2"}}
    assert list(snapshot_backups(record(Block("other", input=shape), kind="snapshot"))) == ["/w/shop/a.py"]


def test_the_folder_of_a_backup_is_the_one_it_names() -> None:
    table = {"lib/a.py": {"backupFileName": "f@v1", "realParentDir": "/real/lib"}}
    assert list(snapshot_backups(record(Block("other", input=table), kind="snapshot"))) == ["/real/lib/a.py"]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("/w/src/a.py", "a.py", True),
        ("/w/src/a.py", "src/a.py", True),
        ("./src/a.py", "/w/src/a.py", True),
        ("/w/src/aa.py", "a.py", False),
        ("C:\\w\\a.py", "w/a.py", True),
        ("/w/a.py", "/v/a.py", False),
        ("", "/v/a.py", False),
    ],
)
def test_names_mean_one_file_when_one_is_the_tail_of_the_other(one: str, other: str, same: bool) -> None:
    assert same_file(one, other) is same
    assert same_file(other, one) is same


@pytest.mark.parametrize(
    ("path", "folder", "whole"),
    [
        ("a/../b", "/w", "/w/b"),
        ("/a//b/", "/w", "/a/b"),
        ("b", "", "b"),
        ("b\\c", "C:\\w", "C:\\w\\b\\c"),
        ("C:/w/../b", "", "C:\\b"),
        ("~/b", "/w", "~/b"),
        ("/w/.hidden", "", "/w/.hidden"),
    ],
)
def test_paths_are_made_absolute_in_their_own_style(path: str, folder: str, whole: str) -> None:
    assert resolve(path, folder) == whole
