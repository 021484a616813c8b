"""The checks of ``fabula doctor`` that concern the memory: each looks at one thing and returns what it saw."""

from __future__ import annotations

import os
from shlex import quote
from typing import TYPE_CHECKING

from fabula.app.doctor import Check
from fabula.kernel.errors import FabulaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fabula.app.memory.access import MemoryAccess
    from fabula.memory.mending.links import Loose

FIX = "fabula doctor --fix"
SHOWN = 5
CROWDED, CROWDED_TASKS = 20, 10  # more in the inbox than this wants sorting
DAY_MS = 86_400_000
OTHERS_MAY_WRITE = 0o022


def memory_checks(access: MemoryAccess) -> list[Check]:
    """Look at all of a memory. Changes nothing of it but what every reading brings up to date."""
    from fabula.memory.store.opening import examine

    found = examine(access.root)
    if found.kind == "absent":
        return [Check("memory", "good", f"none yet at {access.root}: fabula init makes it")]
    try:
        access.corpus()
    except FabulaError as error:
        return [Check("memory", "bad", error.message, list(error.suggestions))]
    there = Check("memory", "good", str(access.root))
    checks = [there, _guarded("memory folder", permissions, access), _guarded("memory git", repository, access)]
    if checks[-1].state == "bad":
        return checks
    more = (("files", files), ("links", links), ("index", index), ("state", state), ("words", words), ("inbox", inbox))
    return checks + [_guarded(f"memory {name}", look, access) for name, look in more]


def _guarded(name: str, look: Callable[[MemoryAccess], Check], access: MemoryAccess) -> Check:
    try:
        return look(access)
    except FabulaError as error:
        return Check(name, "bad", error.message, list(error.suggestions))


def permissions(access: MemoryAccess) -> Check:
    """Can the memory be written, by its owner alone?"""
    name, root = "memory folder", access.root
    for folder in (root, root / ".git", root / ".fabula"):
        if folder.is_dir() and not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            return Check(name, "bad", f"{folder} cannot be written", [f"chmod -R u+rwX {quote(str(folder))}"])
    if os.name == "posix" and root.stat().st_mode & OTHERS_MAY_WRITE:
        return Check(name, "warning", f"others may write to {root}", [f"chmod go-w {quote(str(root))}"])
    return Check(name, "good", "can be written")


def repository(access: MemoryAccess) -> Check:
    """Is the repository whole, and free for the next commit?"""
    from fabula.memory.mending.repository import lost_objects, troubles_of

    name, repo = "memory git", access.repo()
    troubles = troubles_of(repo)
    lost = lost_objects(repo) if repo.head() else []
    if lost:
        advice = "put the objects back from a clone or a backup: git fetch from there"
        return Check(name, "bad", f"objects are missing or broken: {'; '.join(lost)}", [advice])
    if troubles:
        is_grave = any(one.is_grave for one in troubles)
        message = "; ".join(one.message for one in troubles)
        return Check(name, "bad" if is_grave else "warning", message, [one.remedy for one in troubles])
    return Check(name, "good", f"every object of {repo.head()[:12]} is there")


def files(access: MemoryAccess) -> Check:
    """Is every file a memory that is served, committed, and the only one of its fact?"""
    name, known = "memory files", access.refreshed(thorough=True)
    problems = known.problems()
    if problems:
        message = _some(f"{one.path}{f':{one.line}' if one.line else ''}: {one.message}" for one in problems)
        return Check(name, "bad", message, list(dict.fromkeys(one.fix for one in problems[:SHOWN])))
    status = known.status()
    if status.dirty:
        message = f"{status.dirty} changed by hand, not committed"
        return Check(name, "warning", message, [f"fabula memory commit{_corpus(access)}"])
    twins = known.duplicates()
    if twins:
        message = _some(f"{group[-1]} says what {group[0]} does" for group in twins)
        later = [path for group in twins for path in group[1:]][:SHOWN]
        remedies = [f"fabula memory archive {quote(path)} --reason duplicate{_corpus(access)}" for path in later]
        return Check(name, "warning", message, remedies)
    return Check(name, "good", f"{status.files} memories, {status.archived} of them archived")


def loose_links(access: MemoryAccess) -> list[Loose]:
    """Return the relations that lead to a path where no memory is, and from which none was archived.

    A memory comes back from the archive to the place that they name: until then they are followed into the archive.
    """
    from fabula.memory.index.schema import GONE
    from fabula.memory.mending.links import Loose

    known = access.refreshed()
    rows = known.ask(
        "select s.path, e.relation, e.target from edges e join files s on s.id = e.source "
        "where e.relation <> 'from_session' "
        "and not exists(select 1 from places p where p.path = e.target and p.state <> ?) "
        "and not exists(select 1 from files o where o.origin = e.target) order by 1, 2, 3",
        (GONE,),
    )
    return [Loose(source, relation, target, known.resolve(target)) for source, relation, target in rows]


def links(access: MemoryAccess) -> Check:
    """Does every relation lead to a memory?"""
    found = loose_links(access)
    if not found:
        return Check("memory links", "good", "every relation leads to a memory")
    said = (f"{one.source} {one.relation} {one.target} ({one.now or 'nowhere'})" for one in found)
    return Check("memory links", "warning", f"{len(found)} lead to no memory: {_some(said)}", [FIX + _corpus(access)])


def index(access: MemoryAccess) -> Check:
    """Is the index whole and as new as HEAD?"""
    from fabula.models.embedding import Unavailable
    from fabula.storage.database import structural_problem

    name, known = "memory index", access.refreshed()
    status = known.status()
    rebuild = [f"fabula memory index rebuild{_corpus(access)}"]
    if status.path:
        problem = structural_problem(known.connection, access.root / status.path)
        if problem:
            return Check(name, "bad", problem, rebuild)
    if status.head != access.repo().head():
        return Check(name, "warning", "the index is older than HEAD", rebuild)
    if status.place != "corpus":
        return Check(name, "warning", f"it lies outside of the memory: {'; '.join(known.notices)}",
                     [f"chmod -R u+rwX {quote(str(access.root))}"])  # fmt: skip
    embedder = access.embedder
    if isinstance(embedder, Unavailable) and access.config["embedding.provider"] != "off":
        return Check(name, "warning", f"found by words alone: {embedder.reason}", [embedder.remedy or "fabula config"])
    return Check(name, "good", f"as new as HEAD, {status.bytes / 1e6:,.1f} MB")


def lost_states(access: MemoryAccess) -> list[str]:
    """Return the paths that the local log knows something of, and no memory is at, or was archived or moved from."""
    from fabula.memory.state.entries import entries_in
    from fabula.storage.appending import log_files

    known, plane = access.refreshed(), access.state()
    said: set[str] = set()
    for file in log_files(access.root / ".fabula" / "log"):
        said.update(entry.path for entry in entries_in(file.read_bytes()) if entry.path and ":" not in entry.path)
    return sorted(path for path in said if known.resolve(path) is None and known.resolve(plane.where(path)) is None)


def state(access: MemoryAccess) -> Check:
    """Does what was counted belong to memories that are there?"""
    lost = lost_states(access)
    if lost:
        message = f"readings of {len(lost)} memories that are gone: {_some(lost)}"
        return Check("memory state", "warning", message, [FIX + _corpus(access)])
    summary = access.state().summary()
    return Check("memory state", "good", f"{summary.entries} entries, {summary.unexported} on this machine alone")


def words(access: MemoryAccess) -> Check:
    """Do active files keep to the words of the format?"""
    from fabula.memory.format.reader import read

    found = []
    for (path,) in access.refreshed().ask("select path from files where archived = 0 order by path"):
        try:
            reading = read((access.root / str(path)).read_bytes())
        except OSError:
            continue  # gone in this very moment: the next look at the files says so
        found += [f"{path}:{one.place.line}: {one.message}" for one in reading.warnings]
    if found:
        message = f"{len(found)} outside of the format's vocabulary: {_some(found)}"
        return Check("memory words", "warning", message, ["edit these lines, then: fabula memory commit"])
    return Check("memory words", "good", "every file keeps to the vocabulary")


def inbox(access: MemoryAccess) -> Check:
    """What waits for a person: an inbox to sort, tasks that are late. No defect."""
    known, today = access.refreshed(), access.clock.now_ms() // DAY_MS * DAY_MS
    below = "select count(*) from files where archived = 0 and path glob ? and path not glob ?"
    memories = int(known.one(below, ("areas/inbox/*", "areas/inbox/tasks/*")))
    tasks = int(known.one(below, ("areas/inbox/tasks/*", "")))
    late = [task.row.path for task in known.tasks() if task.row.due is not None and task.row.due < today
            and task.row.task_status != "done"]  # fmt: skip
    stale = known.ask(
        "select distinct e.target from edges e join files b on b.id = e.source join files t on t.path = e.target "
        "where e.relation = 'blocks' and b.archived = 1 and t.archived = 0 and t.task_status <> 'done' order by 1"
    )
    parts = [f"{memories} in the inbox{' (crowded)' if memories > CROWDED else ''}"]
    if tasks:
        parts.append(f"{tasks} tasks in the inbox{' (crowded)' if tasks > CROWDED_TASKS else ''}")
    if late:
        parts.append(f"{len(late)} tasks are late: {_some(late)}")
    if stale:
        parts.append(f"{len(stale)} tasks wait for one that is in the archive: {_some(str(path) for (path,) in stale)}")
    return Check("memory inbox", "good", "; ".join(parts))


# ── repairs ─────────────────────────────────────────────────────────
def fix_memory(access: MemoryAccess) -> list[str]:
    """Make the repairs that lose nothing; return what was done.

    Relations are led to where their memories are (what leads nowhere is taken out), a damaged index is made anew, and
    what the local log says of memories that are gone is taken out of it. Raises what commits raise.
    """
    from fabula.memory.mending.links import mend
    from fabula.memory.store.opening import examine

    if not examine(access.root).is_corpus:
        return []
    done = []
    checked = _guarded("memory index", index, access)
    if checked.state == "bad" or (checked.state == "warning" and "older" in checked.message):
        access.index().rebuild()
        done.append("the index of the memory was made anew")
    if loose_links(access):
        mended = mend(access.store(), lambda: loose_links(access))
        if mended.commit is not None:
            done.append(
                f"{mended.led} relations lead to their memories again, {mended.dropped} led nowhere and are out"
            )
    lost = lost_states(access)
    if lost and access.state().forget(lost):
        done.append(f"readings of {len(lost)} memories that are gone were taken out of the log")
    return done


def _corpus(access: MemoryAccess) -> str:
    """Return the option that names this memory, where it is not the configured one."""
    return "" if access.root == access.config["memory.root"] else f" --corpus {quote(str(access.root))}"


def _some(things: Iterable[str]) -> str:
    every = list(things)
    more = f"; and {len(every) - SHOWN} more" if len(every) > SHOWN else ""
    return "; ".join(every[:SHOWN]) + more
