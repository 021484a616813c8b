"""Merging another branch or clone into this one: read three trees, decide each file, make one commit of two parents.

Nothing is written before all is decided: a merge is whole, or it is an error that names every conflict.
"""

from __future__ import annotations

from shlex import quote
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.memory.merging.deciding import Decider
from fabula.memory.merging.lines import lines_of
from fabula.memory.merging.values import MergeConflict, Merged
from fabula.memory.past.facts import Facts
from fabula.memory.past.subjects import subject_of
from fabula.memory.past.tracks import moves_among
from fabula.storage.git.history import files_at, merge_base, open_conflicts, resolve
from fabula.storage.git.joining import Wanted
from fabula.storage.git.message import message_text
from fabula.storage.git.outcast import outcasts_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabula.memory.merging.deciding import Decided
    from fabula.storage.git.program import Git
    from fabula.storage.git.repo import Repo
    from fabula.storage.git.turn import Turn
    from fabula.storage.git.values import Entry

_ATTEMPTS = 5  # that find the branch moved by others


def merge(repo: Repo, ref: str, at: str, *, session: str = "") -> Merged:
    """Merge a commit by any name that git knows into the branch of HEAD. ``at``: ``1700000000 +0000``.

    Raises :class:`MergeConflict` (``ERR_WRITE_CONFLICT``) with every path that both sides changed against each other:
    nothing was changed then. Raises ``ERR_NOT_FOUND`` for a name that is no commit, ``ERR_FORGOTTEN`` when it would
    bring back what was forgotten here, ``ERR_GIT`` when git's own merge is under way or the histories share nothing,
    ``ERR_DIRTY`` where a person's change is at a path that has to change, and as :meth:`Turn.commit`.
    """
    git = repo.shop.git
    theirs = resolve(git, ref)
    if not theirs:
        raise FabulaError(
            "ERR_NOT_FOUND", f"{ref!r} is no commit of {git.root}", f"git -C {quote(str(git.root))} branch --all"
        )
    for _ in range(_ATTEMPTS):
        with repo.writing() as turn:
            _refuse_half_merged(repo)
            merged = _attempt(repo, turn, (ref, theirs), at, session)
        if merged is not None:
            return merged
    raise FabulaError("ERR_LOCKED", f"{git.root}: others move the branch all the time", "repeat the command")


def _attempt(repo: Repo, turn: Turn, other: tuple[str, str], at: str, session: str) -> Merged | None:
    """Merge into what HEAD is now; ``None`` when that was moved meanwhile."""
    git, ours = repo.shop.git, turn.head[0]
    ref, theirs = other
    base = merge_base(git, ours, theirs) if ours else ""
    if ours and base == theirs:
        return Merged("already", ours, ours, theirs)
    if outcasts_of(repo.shop, theirs, ours):
        raise _forgotten(ref)
    if ours and not base:
        raise _strangers(git, ref)
    files = [files_at(git, commit) if commit else {} for commit in (base, ours, theirs)]
    if ours == base:
        wanted: dict[str, Wanted | None] = dict.fromkeys(files[1].keys() - files[2].keys())
        wanted |= {path: Wanted(entry.id, mode=entry.mode) for path, entry in files[2].items()}
        decided = None
    else:
        decided = _decide(repo, (files[0], files[1], files[2]), git)
        if decided.conflicts:
            raise MergeConflict(decided.conflicts, *_remedies(git, ref))
        wanted = _changes(decided.wanted, files[0], files[1], files[2])
    differing = {path: file for path, file in wanted.items() if not _is(file, files[1].get(path))}
    message = message_text(subject_of("merge", ref), trailers=[("Memhtml-Session", session)])
    done = turn.join(differing, message, at, parents=(ours, theirs) if decided else (), ready="" if decided else theirs)
    if done is None:
        return None
    return Merged(
        "merge" if decided else "forward", done.id, done.parent, theirs,
        tuple(sorted(path for path, file in differing.items() if file is not None)),
        tuple(sorted(path for path, file in differing.items() if file is None)),
        decided.moved if decided else (), decided.notices if decided else (), done.left,
    )  # fmt: skip


def _decide(repo: Repo, sides: tuple[dict[str, Entry], dict[str, Entry], dict[str, Entry]], git: Git) -> Decided:
    reader = repo.shop.reader
    facts = Facts(reader)
    base, ours, theirs = sides
    moved = (_moves(base, ours, facts), _moves(base, theirs, facts))
    decider = Decider(sides, facts, lambda blob: reader.data(blob, "blob"), lambda *texts: _plain(git, texts))
    return decider.decide(lines_of(base, ours, theirs, moved))


def _moves(base: Mapping[str, Entry], side: Mapping[str, Entry], facts: Facts) -> dict[str, str]:
    gone = [path for path in base if path not in side]
    came = [path for path in side if path not in base]
    return moves_among(gone, came, lambda path: facts.name(base[path].id), lambda path: facts.name(side[path].id))


def _changes(
    wanted: Mapping[str, Wanted], base: Mapping[str, Entry], ours: Mapping[str, Entry], theirs: Mapping[str, Entry]
) -> dict[str, Wanted | None]:
    """Return what has to change on our side: what was decided, and what goes because it moved or was taken away."""
    same = {path for path, entry in base.items() if ours.get(path) == entry == theirs.get(path)}
    gone = ours.keys() - same - wanted.keys()
    return {**dict.fromkeys(sorted(gone)), **wanted}


def _is(file: Wanted | None, entry: Entry | None) -> bool:
    """Say whether a path is on our side already what it is to be."""
    if file is None or entry is None:
        return file is None and entry is None
    return file.data is None and (file.id, file.mode) == (entry.id, entry.mode)


def _plain(git: Git, texts: tuple[bytes, ...]) -> bytes | None:
    """Merge texts line by line as git does; ``None`` where they conflict or are no texts."""
    with TemporaryDirectory(prefix="fabula-merge-") as folder:
        names = []
        for name, text in zip(("base", "ours", "theirs"), texts, strict=True):
            path = f"{folder}/{name}"
            with open(path, "wb") as stream:
                stream.write(text)
            names.append(path)
        base, ours, theirs = names
        answer = git.run("merge-file", "--stdout", ours, base, theirs, allowed=tuple(range(256)))
        return answer.out if answer.status == 0 else None


def _refuse_half_merged(repo: Repo) -> None:
    """Refuse beside a merge that git began and nobody ended: which commits it joins is that one's matter."""
    shop = repo.shop
    if not (shop.place.own / "MERGE_HEAD").exists():
        return
    where = quote(str(shop.place.root))
    still = [conflict.path for conflict in open_conflicts(shop.git)]
    what = f"in conflict: {', '.join(still)}" if still else "every conflict is solved, but it is not committed"
    ending = f"git -C {where} add --all && git -C {where} commit --no-edit"
    raise FabulaError(
        "ERR_GIT",
        f"{shop.place.root}: a merge that git began is under way ({what})",
        f"git -C {where} merge --abort",
        ending if still else f"git -C {where} commit --no-edit",
    )


def _forgotten(ref: str) -> FabulaError:
    return FabulaError(
        "ERR_FORGOTTEN",
        f"{ref} still has commits that were forgotten here: merging it would bring them back",
        "forget it there too, or make that clone anew from this repository",
    )


def _strangers(git: Git, ref: str) -> FabulaError:
    return FabulaError(
        "ERR_GIT",
        f"{ref} and this branch share no commit: one of them was begun anew, or its history was written anew by "
        "`fabula memory forget`",
        f"git -C {quote(str(git.root))} log --oneline --max-parents=0 HEAD {quote(ref)}",
    )


def _remedies(git: Git, ref: str) -> tuple[str, ...]:
    where = quote(str(git.root))
    return (
        f"make both sides say the same and commit it, then: fabula memory merge {quote(ref)}",
        f"or solve it by hand: git -C {where} merge {quote(ref)}",
    )
