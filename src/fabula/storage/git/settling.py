"""After the ref: bringing index and work tree to what a commit says, at its end or when a stopped one is repaired.

A path is only touched where it is as it was before the commit: whatever a person did meanwhile stays.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.storage.files import PRIVATE_FILE, disk_errors
from fabula.storage.git.durable import NewFiles
from fabula.storage.git.index import changed_only
from fabula.storage.git.values import PROGRAM_MODE
from fabula.storage.git.worktree import Left, place_file, read_file, remove_file

if TYPE_CHECKING:
    from fabula.storage.git.filters import Filters
    from fabula.storage.git.journal import Plan
    from fabula.storage.git.values import Edit, Place
    from fabula.storage.git.workshop import Workshop


def write_new_index(shop: Workshop, edits: tuple[Edit, ...], files: NewFiles) -> None:
    """Write the index as it will be, if it differs from the one that is there."""
    index = shop.indexes.read()
    wanted = changed_only(index, {edit.path: (edit.old, edit.new) for edit in edits})
    if wanted:
        files.add(shop.desk.new_index, shop.indexes.edited(index, wanted), _mode_of_index(shop.place))


def place_new_index(shop: Workshop) -> None:
    """Put the index that was written into its place."""
    index = shop.place.own / "index"
    with disk_errors(index):
        if shop.desk.new_index.exists():
            os.replace(shop.desk.new_index, index)


def settle_index(shop: Workshop, plan: Plan) -> None:
    """Write the index anew from what stands in it now, and put it into its place."""
    shop.desk.new_index.unlink(missing_ok=True)
    with NewFiles() as files:
        write_new_index(shop, plan.edits, files)
        files.sync()
    place_new_index(shop)


def settle_files(shop: Workshop, plan: Plan) -> tuple[str, ...]:
    """Bring the files of the work tree to what the commit says; return the paths that a person changed meanwhile."""
    left = []
    filters = shop.filters()
    for edit in sorted(plan.edits, key=lambda edit: edit.new is None):  # what is new first: a move is never nowhere
        try:
            _settle_file(shop, plan, edit, filters)
        except (Left, FabulaError) as reason:
            if isinstance(reason, FabulaError) and reason.code != "ERR_PATH":
                raise
            left.append(edit.path)
    return tuple(left)


def _settle_file(shop: Workshop, plan: Plan, edit: Edit, filters: Filters) -> None:
    root, desk = shop.place.root, shop.desk
    there = read_file(root, edit.path)
    if there is not None and edit.new is not None and filters.is_blob(edit.path, there, edit.new.id):
        return
    if there is None and edit.new is None:
        return
    if there is None:
        if edit.old is not None and edit.path not in plan.skipped:
            raise Left(edit.path)
    elif edit.old is None or not filters.is_blob(edit.path, there, edit.old.id):
        raise Left(edit.path)
    if edit.new is None:
        remove_file(root, edit.path, there)
        return
    staged = desk.staging / plan.staged.get(edit.path, "none")
    if not staged.exists():
        staged = desk.staging / "again"
        answer = shop.git.run("cat-file", "--filters", f"--path={edit.path}", edit.new.id)
        with NewFiles() as files:
            desk.stage(files, staged.name, answer.out, file_mode(edit.new.mode))
            files.sync()
    place_file(root, edit.path, staged, there)


def file_mode(mode: str) -> int:
    """Return the permissions of a new file in the work tree."""
    return 0o700 if mode == PROGRAM_MODE else PRIVATE_FILE


def _mode_of_index(place: Place) -> int:
    try:
        return (place.own / "index").stat().st_mode & 0o777
    except OSError:
        return 0o644
