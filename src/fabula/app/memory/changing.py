"""What every verb that changes memories shares: provenance, a person's consent, the session's log, missing paths."""

from __future__ import annotations

from contextlib import contextmanager
from shlex import quote
from typing import TYPE_CHECKING, Any, TypeVar

from fabula.kernel.errors import FabulaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fabula.app.memory.access import MemoryAccess
    from fabula.memory.store.values import Provenance

T = TypeVar("T")

DATED = "/" + "[0-9]" * 8  # what stands before the name of a file that is called by its day


def provenance_of(request: Any) -> Provenance:
    """Return the provenance that a request names; a verb that asks for less has less."""
    from fabula.memory.store.values import Provenance

    return Provenance(request.session, getattr(request, "prompt", ""), getattr(request, "turn", ""))


def with_consent(change: Callable[[bool], T], *, may_ask: bool) -> T:
    """Make a change; where it holds what looks like a secret and ``may_ask``, a person decides at the terminal.

    ``change`` is told whether secrets are allowed. Raises ``ERR_SECRET``, ``ERR_CONSENT``.
    """
    try:
        return change(False)  # noqa: FBT003 - the one thing that the callable is told
    except FabulaError as error:
        if error.code != "ERR_SECRET":
            raise
        if not may_ask:
            advice = (*error.suggestions, "a person may allow it: the same command with --allow-secret, in a terminal")
            raise FabulaError(error.code, error.message, *advice) from error
        from fabula.app.consent import require_consent

        lines = [error.message, "Once it is committed, it is in the history, and goes wherever the repository goes."]
        require_consent(lines, "secret", "the same command with --allow-secret")
        return change(True)  # noqa: FBT003


@contextmanager
def located(access: MemoryAccess, *paths: str) -> Iterator[None]:
    """Where a memory is missed at one of some paths, say where it is now, when that is known."""
    try:
        yield
    except FabulaError as error:
        if error.code != "ERR_NO_MEMORY":
            raise
        raise _with_whereabouts(access, error, paths) from error


def require_known(access: MemoryAccess, paths: Sequence[str]) -> list[str]:
    """Return the paths of memories that are there, as they are written. Raises ``ERR_PATH``, ``ERR_NO_MEMORY``."""
    from fabula.memory.store.base import memory_path, no_memory

    index = access.refreshed()
    plain = [memory_path(path) for path in paths]
    known = index.files(plain)
    for path in plain:
        if path not in known:
            raise _with_whereabouts(access, no_memory(path), [path])
    return plain


def path_of(access: MemoryAccess, name: str) -> str:
    """Return the path of the memory that a path, or a name that only one memory has, stands for.

    A name is a title in any case, or the end of a path, without ``.html`` and a date in front if wanted. The file
    itself may be named as well, as an editor or a shell's completion names it.

    Raises ``ERR_NO_MEMORY``, ``ERR_AMBIGUOUS``.
    """
    from fabula.memory.format.paths import SUFFIX, bucket_of, normalise

    plain = normalise(_inside(access, name))
    if ".." in plain.split("/"):
        return plain
    if bucket_of(plain) is not None:
        return plain if plain.endswith(SUFFIX) else plain + SUFFIX
    ending = plain if plain.endswith(SUFFIX) else plain + SUFFIX
    rows = access.refreshed().ask(
        "select path from files where substr(path, -length(?1) - 1) = '/' || ?1 or title = ?2 collate nocase or "
        "(substr(path, -length(?1) - 1) = '-' || ?1 and substr(path, -length(?1) - 10, 9) glob ?3) "
        "order by archived, path limit 6",
        (ending, name.strip(), DATED),
    )
    paths = [str(path) for (path,) in rows]
    live = [path for path in paths if not path.startswith("archive/")]
    if len(live or paths) == 1:
        return (live or paths)[0]
    if not paths:
        broken = access.refreshed().ask(
            "select distinct path from places join problems on file_id = places.id "
            "where substr(path, -length(?1) - 1) = '/' || ?1",
            (ending,),
        )
        if len(broken) == 1:  # whoever reads it is told what is wrong with it
            return str(broken[0][0])
        look = f"fabula memory search {quote(plain.rpartition('/')[2].removesuffix(SUFFIX).replace('-', ' '))}"
        raise FabulaError("ERR_NO_MEMORY", f"no memory is called {name!r}", look, "fabula memory list")
    several = live or paths
    commands = (f"fabula memory read {quote(path)}" for path in several)
    raise FabulaError("ERR_AMBIGUOUS", f"{name!r} is the name of {len(several)} memories", *commands)


def _inside(access: MemoryAccess, name: str) -> str:
    """Return a file's place inside of the memory where it is named from the root of the disk."""
    root = access.corpus().root
    for folder in (root, root.resolve()):
        if name.startswith(f"{folder}/"):
            return name.removeprefix(f"{folder}/")
    return name


def _with_whereabouts(access: MemoryAccess, error: FabulaError, paths: Sequence[str]) -> FabulaError:
    index = access.refreshed()
    for path in paths:
        now = None if index.file(path) is not None else index.resolve(path)
        if now is not None:
            successor = index.successors_of([now]).get(now)
            message = f"{error.message}: it is at {now} now"
            message += f", and {successor} took its place" if successor else ""
            commands = [f"fabula memory read {quote(one)}" for one in (successor, now) if one]
            return FabulaError(error.code, message, *commands, *error.suggestions)
    return error
