"""What a tool call does to files, in one vocabulary for every agent's tools. Pure.

A handler reads the arguments of one kind of tool; a tool that is in no table touches no file. Arguments of a wrong
type make no action: a strange call is never an error here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from fabula.kernel.values import define, field
from fabula.record.history.patches import BEGIN, FilePatch, Hunk, parse_patch
from fabula.record.history.paths import resolve
from fabula.record.history.shell import edited_in_place, heredocs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fabula.kernel.records import Block

Operation = Literal["write", "edit", "patch", "read", "snapshot", "delete"]


@define
class Replacement:
    """``old`` is replaced by ``new``, once or everywhere."""

    old: str
    new: str
    everywhere: bool = False


@define
class Action:
    """One thing that a call does to one file.

    A write holds ``content``, an edit ``replacements``, a patch ``hunks``; a write or an edit with neither changes
    the file in a way that the call does not tell.
    """

    path: str  # absolute where the call or its working folder says so
    operation: Operation
    tool: str
    tool_id: str
    content: str | None = None
    append: bool = False
    replacements: list[Replacement] = field(default_factory=list)
    hunks: list[Hunk] = field(default_factory=list)
    insert_after: int = -1  # line number after which ``content`` is inserted
    partial: bool = False  # a read of a part of the file
    moved_from: str = ""


def actions(block: Block, folder: str) -> list[Action]:
    """Return what a call block does to files; relative paths lie below ``folder``, the record's working folder."""
    handler = _HANDLERS.get(block.tool)
    if handler is None:
        handler = _HANDLERS.get(block.tool.rpartition("__")[2]) if "__" in block.tool else None  # server__tool
        if handler is None:
            return []
    return handler(block, block.input or {}, folder)


def operations(block: Block, folder: str) -> list[tuple[str, Operation]]:
    """Return the path and the operation of each of :func:`actions`, without reading what exactly is done."""
    operation = _ONE_FILE.get(block.tool)
    if operation is None:
        return [(action.path, action.operation) for action in actions(block, folder)]
    path = _path(block.input, folder) if block.input else ""
    return [(path, operation)] if path else []


def _path(given: Mapping[str, Any], folder: str) -> str:
    for key in ("file_path", "filePath", "path", "absolute_path", "notebook_path", "target_file"):
        value = given.get(key)
        if isinstance(value, str) and value:
            return resolve(value, folder)
    return ""


def _text(given: Mapping[str, Any], *keys: str) -> str | None:
    for key in keys:
        value = given.get(key)
        if isinstance(value, str):
            return value
    return None


def _write(block: Block, given: Mapping[str, Any], folder: str) -> list[Action]:
    path = _path(given, folder)
    content, append = _text(given, "content", "file_text", "contents"), given.get("mode") == "append"
    return [Action(path, "write", block.tool, block.tool_id, content=content, append=append)] if path else []


def _replacement(given: Mapping[str, Any], *, everywhere: bool = False) -> Replacement | None:
    old = _text(given, "old_string", "oldString", "old_str", "oldText", "old", "before")
    new = _text(given, "new_string", "newString", "new_str", "newText", "new", "after")
    if old is None or new is None:
        return None
    asked = given.get("replace_all", given.get("replaceAll", given.get("allow_multiple", everywhere)))
    return Replacement(old, new, everywhere=asked is True)


def _edit(block: Block, given: Mapping[str, Any], folder: str) -> list[Action]:
    path = _path(given, folder)
    if not path:
        return []
    parts = given.get("edits", given.get("edit"))
    if isinstance(parts, dict):
        parts = [parts]
    pieces = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else [given]
    found = [_replacement(piece) for piece in pieces]
    whole = [replacement for replacement in found if replacement is not None]
    action = Action(path, "edit", block.tool, block.tool_id)
    if len(whole) == len(found):  # an edit of which a part is unreadable is not known at all
        action.replacements = whole
    return [action]


def _counted_edit(block: Block, given: Mapping[str, Any], folder: str) -> list[Action]:
    """Gemini's ``replace`` says how many places it expects to change."""
    expected = given.get("expected_replacements")
    made = _edit(block, given, folder)
    for action in made:
        for replacement in action.replacements:
            replacement.everywhere = replacement.everywhere or (isinstance(expected, int) and expected > 1)
    return made


#: Arguments that ask for a part of a file.
_PARTIAL = ("offset", "limit", "line_offset", "n_lines", "line", "start_line", "end_line", "view_range")


def _read(block: Block, given: Mapping[str, Any], folder: str) -> list[Action]:
    path = _path(given, folder)
    partial = any(given.get(key) is not None for key in _PARTIAL)
    return [Action(path, "read", block.tool, block.tool_id, partial=partial)] if path else []


def _delete(block: Block, given: Mapping[str, Any], folder: str) -> list[Action]:
    path = _path(given, folder)
    return [Action(path, "delete", block.tool, block.tool_id)] if path else []


def _notebook(block: Block, given: Mapping[str, Any], folder: str) -> list[Action]:
    """A cell is changed, not the file's text: the change is known, its bytes are not."""
    path = _path(given, folder)
    return [Action(path, "edit", block.tool, block.tool_id)] if path else []


def _editor(block: Block, given: Mapping[str, Any], folder: str) -> list[Action]:
    command = given.get("command")
    if command in ("create", "write"):
        return _write(block, given, folder)
    if command == "str_replace":
        return _edit(block, given, folder)
    if command == "view":
        return _read(block, given, folder)
    line, text = given.get("insert_line"), _text(given, "insert_text", "new_str")
    if command != "insert" or not isinstance(line, int) or text is None:
        return []
    path = _path(given, folder)
    return [Action(path, "edit", block.tool, block.tool_id, content=text, insert_after=line)] if path else []


def _patch(block: Block, given: Mapping[str, Any], folder: str) -> list[Action]:
    text = _text(given, "input", "patch", "patchText", "patch_text", "command") or block.text
    return _patch_actions(block, text, folder) if BEGIN in text else []


def _patch_actions(block: Block, text: str, folder: str) -> list[Action]:
    made: list[Action] = []
    for file in parse_patch(text):
        made += _file_actions(block, file, folder)
    return made


def _file_actions(block: Block, file: FilePatch, folder: str) -> list[Action]:
    path = resolve(file.path, folder)
    if file.kind == "add":
        return [Action(path, "write", block.tool, block.tool_id, content=file.content)]
    if file.kind == "delete":
        return [Action(path, "delete", block.tool, block.tool_id)]
    if not file.moved_to:
        return [Action(path, "patch", block.tool, block.tool_id, hunks=file.hunks)]
    target = resolve(file.moved_to, folder)
    moved = Action(target, "patch", block.tool, block.tool_id, hunks=file.hunks, moved_from=path)
    return [Action(path, "delete", block.tool, block.tool_id), moved]


def _shell(block: Block, given: Mapping[str, Any], folder: str) -> list[Action]:
    command = shell_text(given)
    if "<<" not in command and "sed " not in command and "perl " not in command and BEGIN not in command:
        return []
    own = _text(given, "workdir", "cwd", "directory", "dir_path", "working_directory")
    folder = resolve(own, folder) if own else folder
    if BEGIN in command:
        return _patch_actions(block, command, folder)
    made: list[Action] = []
    if "<<" in command:
        made += [
            Action(write.path, "write", block.tool, block.tool_id, content=write.content, append=write.append)
            for write in heredocs(command, folder)
        ]
    if "sed " in command or "perl " in command:
        outside = command.partition("<<")[0]
        made += [Action(path, "edit", block.tool, block.tool_id) for path in edited_in_place(outside, folder)]
    return made


def shell_text(given: Mapping[str, Any]) -> str:
    """Return the shell text of a call: a string, or the last word of ``["bash", "-lc", "…"]``."""
    value = given.get("command", given.get("cmd", given.get("script")))
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        return ""
    runs_text = len(value) == 1 or (len(value) > 1 and value[-2] in ("-c", "-lc", "/c", "-Command", "apply_patch"))
    return str(value[-1]) if runs_text else ""


#: Names under which agents offer a shell.
SHELL_TOOLS = frozenset(
    ("Bash", "bash", "shell", "exec_command", "local_shell_call", "run_shell_command", "container.exec", "exec",
     "shell_command", "PowerShell", "powershell", "developer__shell", "Shell", "run_terminal_cmd")
)  # fmt: skip

_HANDLERS: dict[str, Callable[[Block, Mapping[str, Any], str], list[Action]]] = {
    **dict.fromkeys(("Write", "write", "WriteFile", "write_file", "create_file", "write_to_file", "create"), _write),
    **dict.fromkeys(
        (
            "Edit",
            "edit",
            "StrReplaceFile",
            "MultiEdit",
            "multiedit",
            "edit_file",
            "str_replace",
            "StrReplace",
            "search_replace",
        ),
        _edit,
    ),
    "replace": _counted_edit,
    **dict.fromkeys(("Read", "read", "read_file", "ReadFile", "view", "read_text_file"), _read),
    **dict.fromkeys(("Delete", "delete_file"), _delete),
    "NotebookEdit": _notebook,
    **dict.fromkeys(("str_replace_editor", "str_replace_based_edit_tool", "text_editor"), _editor),
    **dict.fromkeys(("apply_patch", "ApplyPatch", "patch"), _patch),
    **dict.fromkeys(SHELL_TOOLS, _shell),
}

_OPERATIONS: dict[Callable[[Block, Mapping[str, Any], str], list[Action]], Operation] = {
    _write: "write", _edit: "edit", _counted_edit: "edit", _notebook: "edit", _read: "read", _delete: "delete",
}  # fmt: skip
#: Tools that do one thing to the one file that they name.
_ONE_FILE = {tool: _OPERATIONS[handler] for tool, handler in _HANDLERS.items() if handler in _OPERATIONS}
