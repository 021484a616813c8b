"""Use case: remove all of Fabula's data from its home. Nothing of the coding agents, nothing that is not ours."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from fabula.app.access import SCAN_WAIT_SECONDS
from fabula.app.consent import require_consent
from fabula.app.holdings import held
from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen, replace

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.holdings import Held
    from fabula.app.wiring import App

WORD = "purge"
#: One of these makes a folder Fabula's: databases with our mark in their head.
_SIGNS = ("map.db", "vault/journal.db")
_SQLITE_HEAD, _MARK_AT = 100, 68
_SHOWN = 8


@frozen
class PurgeRequest:
    """``apply``: not only a preview."""

    apply: bool = False


@frozen
class PurgedKind:
    """Files of one kind."""

    what: str
    files: int
    bytes: int


@frozen
class PurgeResult:
    """What goes or went, by kind, and the files in the folder that are not Fabula's and stay."""

    applied: bool
    folder: str
    kinds: list[PurgedKind]
    bytes: int
    staying: list[str]


def purge(app: App, request: PurgeRequest) -> PurgeResult:
    """Preview or do it.

    Raises ``ERR_NO_RECORD`` when there is nothing, ``ERR_PATH`` when the folder is not Fabula's, ``ERR_CONSENT``,
    ``ERR_LOCKED``, ``ERR_READ_ONLY``, ``ERR_DISK``.
    """
    root = app.home.root
    files = _ours(root, app.user_home)
    result = _result(root, files)
    if not request.apply:
        return result
    require_consent(purge_lines(result), WORD, "fabula purge --apply")
    app.record.close()
    _remove(app, root)
    return replace(result, applied=True)


def _ours(root: Path, user_home: Path) -> list[Held]:
    if not root.is_dir():
        raise FabulaError("ERR_NO_RECORD", f"{root} does not exist: there is nothing to remove", "fabula status")
    advice = "set FABULA_HOME to Fabula's folder"
    if root.is_symlink():
        raise FabulaError("ERR_PATH", f"{root} is a link: nothing in it is removed", advice)
    is_above = root.resolve() in (user_home.resolve(), *user_home.resolve().parents)
    if is_above or not any(_is_marked(root / sign) for sign in _SIGNS):
        raise FabulaError("ERR_PATH", f"{root} is no folder of Fabula's: nothing in it is removed", advice)
    return [_as_ours(one) for one in held(root)]


def _as_ours(one: Held) -> Held:
    """Return a file as it was found, but for a ``config.toml`` that says what no setting of ours is called."""
    if one.path.name != "config.toml" or not one.what:
        return one
    from tomllib import TOMLDecodeError, load

    from fabula.app.config import KEYS

    ours = {key.name.partition(".")[0] for key in KEYS}
    try:
        with one.path.open("rb") as file:
            said = load(file)
    except (OSError, UnicodeDecodeError, TOMLDecodeError):
        return replace(one, what="")
    return one if said.keys() <= ours else replace(one, what="")


def _is_marked(path: Path) -> bool:
    """Say whether a database carries one of our marks, by its head alone: it may be damaged."""
    from fabula.record.map.schema import APPLICATION_ID as MAP
    from fabula.record.vault.schema import APPLICATION_ID as JOURNAL
    from fabula.storage.keyring import SEALED

    try:
        with path.open("rb") as file:
            head = file.read(_SQLITE_HEAD)
    except OSError:
        return False
    if head.startswith(SEALED):
        return True  # what it says of itself is encrypted
    return int.from_bytes(head[_MARK_AT : _MARK_AT + 4], "big") in {MAP, JOURNAL}


def _result(root: Path, files: list[Held]) -> PurgeResult:
    kinds: dict[str, tuple[int, int]] = {}
    for one in files:
        if one.what:
            count, size = kinds.get(one.what, (0, 0))
            kinds[one.what] = (count + 1, size + one.size)
    return PurgeResult(
        applied=False,
        folder=str(root),
        kinds=[PurgedKind(what, *numbers) for what, numbers in kinds.items()],
        bytes=sum(size for _, size in kinds.values()),
        staying=[str(one.path) for one in files if not one.what],
    )


def purge_lines(result: PurgeResult) -> list[str]:
    """Return what goes in sentences."""
    lines = [f"All of Fabula's data in {result.folder} is to be removed for good, {result.bytes:,} bytes:"]
    lines += [f"  {kind.what}: {kind.files:,} files, {kind.bytes:,} bytes" for kind in result.kinds]
    if result.staying:
        some = ", ".join(result.staying[:_SHOWN])
        lines.append(f"Not Fabula's, and left there: {some}{' …' if len(result.staying) > _SHOWN else ''}")
    lines.append("The transcripts of your agents stay; what only the vault still holds of them is lost.")
    return lines


def _remove(app: App, root: Path) -> None:
    """Remove our files under both locks, the locks last, then the folders that are empty."""
    from fabula.record.vault.folder import LOCK
    from fabula.storage.files import disk_errors, ensure_folder
    from fabula.storage.locks import FileLock

    ensure_folder(app.home.vault)
    with FileLock(app.home.lock, SCAN_WAIT_SECONDS), FileLock(app.home.vault / LOCK, SCAN_WAIT_SECONDS):
        files = [one for one in map(_as_ours, held(root)) if one.what]
        for one in sorted(files, key=_order):
            with disk_errors(one.path):
                one.path.unlink(missing_ok=True)
    for folder in sorted((path for path in root.rglob("*") if path.is_dir() and not path.is_symlink()), reverse=True):
        with suppress(OSError):  # something is in it
            folder.rmdir()
    with suppress(OSError):
        root.rmdir()


def _order(one: Held) -> tuple[int, str]:
    """Derived data first, then truth; of a database its log first; what marks the folder as ours and the locks last.

    A purge that is stopped halfway can so be begun again.
    """
    name = one.path.name
    rank = 4 if one.what == "locks" else 3 if name in {"journal.db", "map.db"} else 0 if one.derived else 1
    return rank, str(one.path)
