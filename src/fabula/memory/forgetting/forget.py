"""Forgetting: the history of a corpus is written anew without something, and the old one is cleared out.

A person has agreed before this is called. Everything is found again under the lock, so what is forgotten is what is
there now. The last commit says that something was forgotten, and not what.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.memory.forgetting.preview import shown, survey
from fabula.memory.forgetting.rules import Forgetting
from fabula.memory.forgetting.values import Forgotten
from fabula.memory.forgetting.words import Words, long_enough
from fabula.memory.past.subjects import subject_of
from fabula.storage.files import ensure_folder
from fabula.storage.git.durable import NewFiles
from fabula.storage.git.history import files_at
from fabula.storage.git.joining import Wanted
from fabula.storage.git.message import message_text
from fabula.storage.git.objects import made
from fabula.storage.git.outcast import cast_out
from fabula.storage.git.replacing import STASH, Replacing, note, still_there
from fabula.storage.git.storing import LooseObjects
from fabula.storage.git.streaming import rewrite

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabula.memory.forgetting.preview import Ref, Survey
    from fabula.memory.forgetting.values import Found, Preview, Target
    from fabula.storage.git.objects import Object
    from fabula.storage.git.repo import Repo

_SIGNATURE = re.compile(rb"^-----BEGIN (?:PGP|SSH|SIGNED)[^\n]*-----$.*", re.MULTILINE | re.DOTALL)
_WAIT_SECONDS = 60.0


def forget(repo: Repo, target: Target, at: str, *, agreed: Preview | None = None) -> Forgotten:
    """Forget for good. ``at``: ``1700000000 +0000``, the time of the last commit.

    ``agreed``: what a person was shown; where it is no longer what would be done, nothing is (``ERR_CHANGED``).
    Raises as :func:`survey`, ``ERR_DIRTY`` where a person's change is in a file that has to change, and as
    :meth:`Turn.commit`.
    A stop leaves the old history whole, or the new one, which the next opening completes.
    """
    with repo.writing(_WAIT_SECONDS) as turn:
        seen = survey(repo, target)
        said = shown(repo, seen)
        if agreed is not None and said != agreed:
            raise FabulaError(
                "ERR_CHANGED", "the corpus changed since it was looked at: nothing was forgotten", "repeat it"
            )
        new = _rewritten(repo, seen)
        head = turn.head[0]
        follows = new.get(head, head)
        refs, stash = _replaced(repo, seen, new)
        cast_out(repo.shop, seen.found.commits)
        note(repo.shop, Replacing(head, follows, tuple(refs), stash))
        before, after = files_at(repo.shop.git, head), files_at(repo.shop.git, follows)
        wanted: dict[str, Wanted | None] = dict.fromkeys(before.keys() - after.keys())
        wanted |= {
            path: Wanted(entry.id, mode=entry.mode) for path, entry in after.items() if before.get(path) != entry
        }
        count = said.memories
        what = f"{count} memories" if count > 1 else "1 memory" if count else "some versions"
        done = turn.join(wanted, message_text(subject_of("forget", what)), at, parents=(follows,))
        if done is None:
            raise FabulaError("ERR_LOCKED", "others moved the branch meanwhile: nothing was forgotten", "repeat it")
    still = still_there(repo.shop, seen.found.blobs | seen.found.edited.keys())
    return Forgotten(done.id, said.versions, said.commits, said.refs, said.remotes, still, done.left)


def _rewritten(repo: Repo, seen: Survey) -> dict[str, str]:
    """Write the affected commits anew; return old id -> new id."""
    shop = repo.shop
    edited = {blob: made("blob", data, shop.place.algorithm) for blob, data in seen.found.edited.items()}
    _store(repo, edited.values())
    rows = {row.commit: row for row in reversed(seen.rows)}
    rules = Forgetting(seen.found, rows, {blob: thing.id for blob, thing in edited.items()})
    folder = shop.desk.staging / "rewriting"
    ensure_folder(folder)
    return rewrite(shop, seen.rows, seen.found.commits, rules, folder)


def _replaced(repo: Repo, seen: Survey, new: dict[str, str]) -> tuple[list[tuple[str, str, str]], str]:
    """Return (ref, old id, new id) of all refs but HEAD's that change, and the stash's log as it will be."""
    branch = repo.shop.git.run("symbolic-ref", "--quiet", "HEAD", allowed=(0, 1)).out.decode().strip()
    tags: list[Object] = []
    refs = []
    for ref in seen.refs:
        at = _tag(repo, ref, new, seen.found, tags) if ref.kind == "tag" else new.get(ref.id, ref.id)
        if at != ref.id and ref.name != branch:
            refs.append((ref.name, ref.id, at))
    _store(repo, tags)
    words = _words(seen.found)
    lines = [
        words.out_of(" ".join([new.get(old, old), new.get(one, one), rest]).encode("utf-8", "surrogateescape"))
        for old, one, rest in (line.split(" ", 2) for line in seen.stash)
    ]
    is_moved = any(name == STASH for name, _, _ in refs)
    return refs, b"".join(lines).decode("utf-8", "surrogateescape") if is_moved or new else ""


def _tag(repo: Repo, ref: Ref, new: dict[str, str], found: Found, tags: list[Object]) -> str:
    """Return the id of a tag that names the new commit; what signed the old one is left out."""
    words = _words(found)

    def renamed(name: str) -> str:
        head, _, text = repo.shop.reader.data(name, "tag").partition(b"\n\n")
        target, kind = (line.split(b" ", 1)[1].decode() for line in head.split(b"\n")[:2])
        at = renamed(target) if kind == "tag" else new.get(target, target)
        if at == target and not words.are_in(text):
            return name
        head = head.replace(target.encode(), at.encode(), 1)
        thing = made("tag", head + b"\n\n" + words.out_of(_SIGNATURE.sub(b"", text)), repo.shop.place.algorithm)
        tags.append(thing)
        return thing.id

    return renamed(ref.id)


def _words(found: Found) -> Words:
    return Words(found.needles if found.target.text else long_enough(found.needles))


def _store(repo: Repo, things: Iterable[Object]) -> None:
    """Write objects durably."""
    with NewFiles() as files:
        loose = LooseObjects(repo.shop.place, files)
        try:
            loose.add(things)
            files.sync()
            loose.name()
        finally:
            loose.drop()
