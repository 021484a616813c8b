"""The patch language of ``apply_patch``: reading it, and applying one file's part to a text. Pure."""

from __future__ import annotations

from fabula.kernel.values import define, field

BEGIN = "*** Begin Patch"
_ADD, _DELETE, _UPDATE, _MOVE = "*** Add File: ", "*** Delete File: ", "*** Update File: ", "*** Move to: "


@define
class Hunk:
    """One change inside a file: the lines that are there and the lines that take their place."""

    anchor: str = ""  # a line that stands above the change, or ""
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    at_end: bool = False  # the change ends the file


@define
class FilePatch:
    """What a patch does to one file: ``kind`` is add, delete or update."""

    path: str
    kind: str
    content: str = ""  # of an added file
    hunks: list[Hunk] = field(default_factory=list)
    moved_to: str = ""


def parse_patch(text: str) -> list[FilePatch]:
    """Return the files a patch touches, in its order; what does not belong to the language is passed over."""
    files: list[FilePatch] = []
    start = text.find(BEGIN)
    for line in text[start:].split("\n")[1:] if start >= 0 else ():
        if line.startswith("*** End Patch"):
            break
        if line.startswith("*** ") and _header(line, files):
            continue
        if files:
            _body(line, files[-1])
    for file in files:
        file.hunks = [hunk for hunk in file.hunks if hunk.old or hunk.new]
    return files


def _header(line: str, files: list[FilePatch]) -> bool:
    for prefix, kind in ((_ADD, "add"), (_DELETE, "delete"), (_UPDATE, "update")):
        if line.startswith(prefix):
            files.append(FilePatch(line[len(prefix) :].strip(), kind))
            return True
    if line.startswith(_MOVE) and files:
        files[-1].moved_to = line[len(_MOVE) :].strip()
        return True
    if line.startswith("*** End of File") and files and files[-1].hunks:
        files[-1].hunks[-1].at_end = True
        return True
    return False


def _body(line: str, file: FilePatch) -> None:
    if file.kind == "add":
        if line.startswith("+"):
            file.content += line[1:] + "\n"
        return
    if file.kind == "delete":
        return
    if line.startswith("@@"):
        file.hunks.append(Hunk(anchor=line[2:].strip()))
        return
    if not file.hunks:
        file.hunks.append(Hunk())
    hunk, mark, rest = file.hunks[-1], line[:1], line[1:]
    if mark in (" ", ""):
        hunk.old.append(rest)
        hunk.new.append(rest)
    elif mark == "-":
        hunk.old.append(rest)
    elif mark == "+":
        hunk.new.append(rest)


def apply_hunks(text: str, hunks: list[Hunk]) -> str | None:
    """Return ``text`` with the hunks applied one after another, or ``None`` when one has no place in it."""
    lines = text.split("\n")
    ends_with_newline = bool(lines) and lines[-1] == ""
    if ends_with_newline:
        lines.pop()
    position = 0
    for hunk in hunks:
        if hunk.anchor:
            above = _find(lines, [hunk.anchor], position)
            position = above + 1 if above >= 0 else position
        old, new = _trimmed(lines, hunk, position)
        at = _place(lines, old, position, hunk.at_end)
        if at < 0:
            return None
        lines[at : at + len(old)] = new
        position = at + len(new)
    return "\n".join(lines) + "\n" if lines else ""


def _trimmed(lines: list[str], hunk: Hunk, position: int) -> tuple[list[str], list[str]]:
    """Drop an empty context line that only ended the hunk in its text and is not in the file."""
    old, new = hunk.old, hunk.new
    if old and new and old[-1] == new[-1] == "" and _place(lines, old, position, hunk.at_end) < 0:
        return old[:-1], new[:-1]
    return old, new


def _place(lines: list[str], old: list[str], position: int, at_end: bool) -> int:
    if not old:
        return len(lines) if at_end or position == 0 else position
    if at_end and lines[-len(old) :] == old:
        return len(lines) - len(old)
    found = _find(lines, old, position)
    return found if found >= 0 else _find([line.rstrip() for line in lines], [line.rstrip() for line in old], position)


def _find(lines: list[str], wanted: list[str], position: int) -> int:
    count = len(wanted)
    for at in range(position, len(lines) - count + 1):
        if lines[at : at + count] == wanted:
            return at
    if count == 1:  # an anchor is written without its indentation
        for at in range(position, len(lines)):
            if lines[at].strip() == wanted[0].strip():
                return at
    return -1
