"""A commit of files that are known by their blobs: what a merge came to, or a history that was written anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.storage.git.checking import skipped_paths
from fabula.storage.git.committing import Draft
from fabula.storage.git.objects import made
from fabula.storage.git.trees import Trees
from fabula.storage.git.values import FILE_MODE, FOLDER_MODE, PROGRAM_MODE, Edit, Entry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabula.storage.git.objects import Object
    from fabula.storage.git.workshop import Workshop

_PLAIN = frozenset({FILE_MODE, PROGRAM_MODE})


@frozen
class Wanted:
    """The file that is to be at a path: a blob that is there (``id``), or these bytes, as they are, as a new blob."""

    id: str = ""
    data: bytes | None = None
    mode: str = FILE_MODE


def joined(
    shop: Workshop,
    wanted: Mapping[str, Wanted | None],
    head: tuple[str, str],
    *,
    parents: tuple[str, ...] = (),
    ready: str = "",
) -> Draft:
    """Return the draft of a commit whose tree is that of ``head`` with some files in other states.

    Raises ``ERR_DIRTY``, ``ERR_WRITE_CONFLICT`` and ``ERR_PATH`` as :func:`skipped_paths`, ``ERR_PATH`` where something
    is no plain file.
    """
    trees = Trees(shop.place, lambda tree: shop.reader.data(tree, "tree"))
    entries, objects = _entries(wanted, shop.place.algorithm)
    edits = tuple(edit for path, new in entries.items() if (edit := _edit(trees, head[1], path, new)) is not None)
    tree, folders = trees.edited(head[1], {edit.path: edit.new for edit in edits})
    skipped = skipped_paths(edits, shop.indexes.read(), shop.place, shop.filters())
    files = _files(shop, edits, {path: file.data for path, file in wanted.items() if file is not None})
    return Draft(head[0], tree, edits, (*objects, *folders), files, skipped, parents, ready)


def _entries(wanted: Mapping[str, Wanted | None], algorithm: str) -> tuple[dict[str, Entry | None], list[Object]]:
    entries: dict[str, Entry | None] = {}
    objects = []
    for path, file in wanted.items():
        if file is None or file.data is None:
            entries[path] = Entry(file.mode, file.id) if file is not None else None
            continue
        thing = made("blob", file.data, algorithm)
        objects.append(thing)
        entries[path] = Entry(file.mode, thing.id)
    return entries, objects


def _edit(trees: Trees, tree: str, path: str, new: Entry | None) -> Edit | None:
    old = trees.find(tree, path) if tree else None
    if old is not None and old.mode == FOLDER_MODE:
        old = None
    if old == new:
        return None
    for entry in (old, new):
        if entry is not None and entry.mode not in _PLAIN:
            raise FabulaError("ERR_PATH", f"{path!r} is a link or a submodule: git alone can change it")
    return Edit(path, old, new)


def _files(shop: Workshop, edits: tuple[Edit, ...], given: Mapping[str, bytes | None]) -> dict[str, bytes]:
    """Return the bytes of the files of the work tree; those that git converts are left to git, when they are placed."""
    new = [(edit.path, edit.new) for edit in edits if edit.new is not None]
    unknown = [(path, entry) for path, entry in new if given.get(path) is None]
    files = {path: data for path, _ in new if (data := given.get(path)) is not None}
    answers = shop.reader.each(entry.id for _, entry in unknown)
    for (path, entry), found in zip(unknown, answers, strict=True):
        files[path] = found[2] if found is not None else shop.reader.data(entry.id, "blob")
    converted = shop.filters().converted(files)
    return {path: data for path, data in files.items() if path not in converted}
