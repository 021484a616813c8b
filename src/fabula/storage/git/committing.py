"""Making a commit: a draft from HEAD, its objects, a journal, the ref by compare-and-swap, then index and work tree.

The commit point is the ref. Before it nothing counts: files on their way lie in our own folder. After it all is done
that :mod:`settling` does, by us or, if we are stopped, by whoever opens the repository next.
"""

from __future__ import annotations

import os
from shlex import quote
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.storage.git.checking import skipped_paths
from fabula.storage.git.drafting import Slot, edits_of, slots_of
from fabula.storage.git.durable import NewFiles
from fabula.storage.git.journal import Plan
from fabula.storage.git.objects import Object, commit_bytes, made
from fabula.storage.git.program import refused
from fabula.storage.git.settling import file_mode, write_new_index
from fabula.storage.git.storing import FEW, LooseObjects, store_pack

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabula.storage.git.desk import Desk
    from fabula.storage.git.reader import Reader
    from fabula.storage.git.values import Change, Edit, Settings
    from fabula.storage.git.workshop import Workshop

SIGNING_SECONDS = 120.0  # a person may have to type a passphrase


@frozen
class Draft:
    """A commit before it has an id. ``parent`` is HEAD, empty when nothing was committed yet.

    ``parents``: the commits that it follows, where that is not HEAD alone; ``ready``: a commit that is there already
    and is gone on to.
    """

    parent: str
    tree: str
    edits: tuple[Edit, ...]
    objects: tuple[Object, ...]
    files: dict[str, bytes]  # path -> what its file in the work tree will hold
    skipped: tuple[str, ...]
    parents: tuple[str, ...] = ()
    ready: str = ""

    @property
    def follows(self) -> tuple[str, ...]:
        """The parents of the commit."""
        return self.parents or ((self.parent,) if self.parent else ())


@frozen
class Text:
    """What a commit says: its message, and the moment in git's form (``1700000000 +0000``)."""

    message: str
    at: str


def drafted(shop: Workshop, changes: Iterable[Change], head: tuple[str, str]) -> Draft | None:
    """Return what changes come to on top of ``head`` (commit, tree); ``None`` when that is nothing.

    Raises what :func:`slots_of`, :meth:`Trees.edited` and :func:`skipped_paths` do.
    """
    reader, filters = shop.reader, shop.filters()
    trees = shop.trees()
    slots = slots_of(changes, trees, head[1])
    blobs, new_blobs = filters.blobs({slot.path: slot.data for slot in slots if slot.data is not None})
    edits = edits_of(slots, blobs)
    if not edits:
        return None
    tree, folders = trees.edited(head[1], {edit.path: edit.new for edit in edits})
    skipped = skipped_paths(edits, shop.indexes.read(), shop.place, filters)
    changed = {edit.path for edit in edits if edit.new is not None}
    files = {slot.path: _bytes_of(slot, reader) for slot in slots if slot.path in changed}
    return Draft(head[0], tree, edits, (*new_blobs, *folders), files, skipped)


def _bytes_of(slot: Slot, reader: Reader) -> bytes:
    if slot.data is not None:
        return slot.data
    assert slot.kept is not None
    return reader.data(slot.kept.id, "blob")


def prepared(shop: Workshop, draft: Draft, text: Text) -> Plan:
    """Write everything that the commit needs, durably, and its journal; the ref is all that is missing then.

    Raises ``ERR_DISK``, ``ERR_READ_ONLY``, ``ERR_GIT`` (signing failed, a hook refused).
    """
    settings, hooks = shop.settings(), shop.hooks
    with NewFiles() as files:
        loose = LooseObjects(shop.place, files)
        try:
            stored_first = settings.signs or hooks is not None or len(draft.objects) > FEW
            if stored_first:
                _store_first(shop, draft.objects, loose, files)
            if hooks is not None and not draft.ready:
                text = Text(hooks.before(draft.tree, text.message), text.at)
            if draft.ready:
                commit = Object(draft.ready, "commit", b"")
                loose.add(() if stored_first else draft.objects)
            elif settings.signs:
                commit = _signed(shop, draft, text)
            else:
                commit = _unsigned(shop, draft, text)
                loose.add([commit] if stored_first else [*draft.objects, commit])
            plan = _plan(shop.desk, draft, commit, files)
            write_new_index(shop, draft.edits, files)
            files.sync()
            loose.name()
        finally:
            loose.drop()
    shop.desk.begin()
    return plan


def _store_first(shop: Workshop, things: tuple[Object, ...], loose: LooseObjects, files: NewFiles) -> None:
    """Store what a commit holds before there is a commit."""
    if len(things) > FEW:
        store_pack(shop.git, shop.place, things)
        return
    loose.add(things)
    files.sync()
    loose.name()


def _plan(desk: Desk, draft: Draft, commit: Object, files: NewFiles) -> Plan:
    """Stage the files of the work tree and write the journal."""
    modes = {edit.path: edit.new.mode for edit in draft.edits if edit.new is not None}
    staged = {path: str(number) for number, path in enumerate(draft.files)}
    for path, data in draft.files.items():
        desk.stage(files, staged[path], data, file_mode(modes[path]))
    plan = Plan(commit.id, draft.parent, os.getpid(), draft.edits, staged, draft.skipped)
    desk.write_plan(files, plan)
    return plan


def _unsigned(shop: Workshop, draft: Draft, text: Text) -> Object:
    settings = shop.settings()
    people = (settings.author, settings.committer)
    return made("commit", commit_bytes(draft.tree, draft.follows, people, text.at, text.message), shop.place.algorithm)


def _signed(shop: Workshop, draft: Draft, text: Text) -> Object:
    """Have git make and sign the commit, with the user's key and format."""
    parents = [word for parent in draft.follows for word in ("-p", parent)]
    answer = shop.git.run(
        "commit-tree", "-S", draft.tree, *parents, "-F", "-", stdin=text.message.encode(),
        extra=_as_environment(shop.settings(), text.at), allowed=(0, 1, 128), limit=SIGNING_SECONDS,
    )  # fmt: skip
    if answer.status:
        error = refused("commit-tree", answer.err)
        raise FabulaError(
            "ERR_GIT",
            f"the commit could not be signed, and this repository asks for it (commit.gpgsign): {error.message}",
            f"git -C {quote(str(shop.git.root))} config commit.gpgsign false",
        )
    return Object(answer.out.decode().strip(), "commit", b"")


def _as_environment(settings: Settings, at: str) -> dict[str, str]:
    people = {"AUTHOR": settings.author, "COMMITTER": settings.committer}
    said: dict[str, str] = {}
    for role, someone in people.items():
        said |= {
            f"GIT_{role}_NAME": someone.name,
            f"GIT_{role}_EMAIL": someone.email,
            f"GIT_{role}_DATE": at,
        }
    return said


class RefMove:
    """Moves the branch of HEAD by compare-and-swap. Git is started early and waits while objects are written."""

    def __init__(self, shop: Workshop, text: Text) -> None:
        subject = text.message.split("\n", 1)[0]
        self._process = shop.git.start(
            "update-ref",
            "--create-reflog",
            "-m",
            f"commit: {subject}",
            "--stdin",
            extra=_as_environment(shop.settings(), text.at),
        )
        self._is_open = True

    def move(self, plan: Plan) -> bool:
        """Move the branch from the parent to the commit; ``False`` when git would not."""
        old = plan.parent or "0" * len(plan.commit)
        self._is_open = False
        self._process.communicate(f"update HEAD {plan.commit} {old}\n".encode())
        return self._process.returncode == 0

    def close(self) -> None:
        """End git if it was asked for nothing."""
        if self._is_open:
            self._is_open = False
            self._process.communicate()


def blobs_of(edits: Iterable[Edit]) -> dict[str, str]:
    """Return path -> blob id of what a commit wrote."""
    return {edit.path: edit.new.id for edit in edits if edit.new is not None}
