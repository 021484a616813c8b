"""The verb ``memory forget``: the one way to remove a memory, or a text, from a corpus and its history for good.

First it is found and shown; a person at a terminal agrees; the history is written anew without it and the old one is
cleared out; all that was derived from it, index and state, is made anew.
"""

from __future__ import annotations

from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import field, frozen

if TYPE_CHECKING:
    from fabula.app.memory.access import MemoryAccess
    from fabula.app.wiring import App
    from fabula.memory.forgetting.values import Preview, Target

WORD = "forget"
SHOWN = 10


@frozen
class ForgetRequest:
    """``targets``: paths of memories; ``text``: whatever holds it. ``apply``: not only a preview."""

    targets: tuple[str, ...] = ()
    text: str = ""
    apply: bool = False
    corpus: Path | None = None


@frozen
class RemoteCopy:
    """What a remote still holds, and the command that replaces it there."""

    name: str
    ref: str
    command: str


@frozen
class ForgetResult:
    """What goes, or what went (``applied``; ``commit`` is HEAD then).

    ``citing``: memories whose links to it go too; ``naming``: memories that name it in their text, which stays;
    ``handed_out``: how often packs handed it out; ``still``: versions that the repository could not let go, and
    ``elsewhere``: files of other programs that were made from it.
    """

    applied: bool
    paths: list[str]
    memories: int
    versions: int
    commits: int
    signatures: int
    refs: list[str]
    stashes: int
    citing: list[str]
    naming: list[str]
    handed_out: int
    remotes: list[RemoteCopy]
    elsewhere: list[str]
    commit: str = ""
    still: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def forget(app: App, request: ForgetRequest) -> ForgetResult:
    """Preview or do it.

    Raises ``ERR_USAGE``, ``ERR_NOT_FOUND``, ``ERR_CONSENT``, ``ERR_CHANGED``, ``ERR_DIRTY``, ``ERR_GIT``,
    ``ERR_NO_CORPUS``, ``ERR_LOCKED``, ``ERR_DISK``, ``ERR_READ_ONLY``.
    """
    from fabula.memory.forgetting.preview import preview
    from fabula.memory.forgetting.values import Target

    if bool(request.targets) == bool(request.text):
        raise FabulaError("ERR_USAGE", "either paths or --text has to be named", "fabula memory forget PATH")
    access = app.memory_at(request.corpus)
    target = Target(request.targets, request.text)
    said = preview(access.repo(), target)
    result = _result(access, said)
    if not request.apply:
        return result
    from fabula.app.consent import require_consent

    require_consent(preview_lines(result), WORD, command_of(request))
    return _done(app, access, target, said, result)


def command_of(request: ForgetRequest) -> str:
    """Return the command that asks for the same, safe to be given to a shell."""
    text = [f"--text={request.text}"] if request.text else []
    corpus = [f"--corpus={request.corpus}"] if request.corpus else []
    return join(["fabula", "memory", "forget", *text, *corpus, "--apply", *request.targets])


def preview_lines(result: ForgetResult) -> list[str]:
    """Return what goes in sentences: shown before a person agrees, and as the preview."""
    what = f"{_counted(result.memories, 'memory', 'memories')}, {_counted(result.versions, 'version')}"
    lines = [f"To be forgotten for good: {what}"]
    lines += [f"  {path}" for path in _some(result.paths)]
    lines.append(
        f"History is written anew: {_counted(result.commits, 'commit')} get other ids, in {', '.join(result.refs)}"
    )
    if result.stashes:
        lines.append(f"  {_counted(result.stashes, 'stash', 'stashes')} with it")
    if result.signatures:
        lines.append(f"  {_counted(result.signatures, 'signature')} of commits are lost by it")
    if result.citing:
        lines.append("Links to it are taken out of:")
        lines += [f"  {path}" for path in _some(result.citing)]
    if result.naming:
        lines.append("Named or quoted in the text of these, and left there:")
        lines += [f"  {path}" for path in _some(result.naming)]
    if result.handed_out:
        lines.append(f"Handed out {_counted(result.handed_out, 'time')} to sessions, whose transcripts keep it")
    if result.elsewhere:
        lines.append(f"Made from it by other programs, and left there: {', '.join(result.elsewhere)}")
    if result.remotes:
        lines.append("Remotes hold it until these were run, and clones of others until they are made anew:")
        lines += [f"  {one.command}" for one in result.remotes]
    return lines


def _counted(count: int, one: str, several: str = "") -> str:
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def _some(paths: list[str]) -> list[str]:
    more = [f"and {len(paths) - SHOWN} more (--json names all)"] if len(paths) > SHOWN else []
    return [*paths[:SHOWN], *more]


def _result(access: MemoryAccess, said: Preview) -> ForgetResult:
    packs = {pack.id for path in said.paths for pack in access.state().packs_with(path)}
    other = access.root / ".memhtml"
    elsewhere = [str(path) for name in ("index.db", "state.db") if (path := other / name).exists()]
    return ForgetResult(
        applied=False,
        paths=list(said.paths),
        memories=said.memories,
        versions=said.versions,
        commits=said.commits,
        signatures=said.signed,
        refs=list(said.refs),
        stashes=said.stashes,
        citing=list(said.citing),
        naming=list(said.naming),
        handed_out=len(packs),
        remotes=[RemoteCopy(one.name, one.ref, one.command) for one in said.remotes],
        elsewhere=elsewhere,
    )


def _done(app: App, access: MemoryAccess, target: Target, said: Preview, result: ForgetResult) -> ForgetResult:
    """Forget; what was derived from the history goes before, so that no stop leaves it behind, and is made anew."""
    from fabula.kernel.values import replace
    from fabula.memory.forgetting.forget import forget as forget_for_good
    from fabula.memory.store.moment import Moment

    at = Moment(app.clock.now_ms() // 1000).git
    _throw_away(access)
    access.state().forget(said.paths, target.text)
    done = forget_for_good(access.repo(), target, at, agreed=said)
    _throw_away(access)
    access.refreshed()
    return replace(result, applied=True, commit=done.commit, still=list(done.still), left=list(done.left))


def _throw_away(access: MemoryAccess) -> None:
    """Remove what was derived from the history that was: a database keeps the bytes of rows that it deleted."""
    opened = access.index().connection.filename
    access.close()
    files = {Path(opened)} if opened else set()
    files |= {access.root / ".fabula" / name for name in ("index.db", "state.db")}
    for file in files:
        for path in file.parent.glob(f"{file.name}*"):
            path.unlink(missing_ok=True)
