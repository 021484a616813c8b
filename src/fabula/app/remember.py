"""The verb ``remember``: the shortest way from a sentence to a memory.

The first sentence is the claim, the rest what stands behind it; the title is made of the claim, and the workspace is
the repository that one stands in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.memory.write import put
from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.wiring import App

DEFAULT_TYPE = "semantic"
STDIN = "-"


@frozen
class RememberRequest:
    """``text``: prose, ``-`` for standard input. ``everywhere``: it concerns more than this repository."""

    text: str
    type: str = DEFAULT_TYPE
    title: str = ""
    tag: tuple[str, ...] = ()
    workspace: str = ""
    everywhere: bool = False
    session: str = ""
    allow_secret: bool = False
    corpus: Path | None = None


@frozen
class RememberResult:
    """The memory that says so now; ``known``: one said it before, and nothing was written."""

    path: str
    title: str
    claim: str
    type: str
    workspace: str | None
    known: bool
    commit: str | None
    notices: tuple[str, ...]


def remember(app: App, request: RememberRequest) -> RememberResult:
    """Write a memory, unless one says the same.

    Raises ``ERR_USAGE`` for no text, and what ``memory write`` raises.
    """
    from fabula.app.memory.changing import provenance_of
    from fabula.app.memory.typed import Typed, title_from
    from fabula.memory.format.fences import claim_and_rest
    from fabula.memory.store.values import NewMemory

    if request.everywhere and request.workspace:
        raise FabulaError("ERR_USAGE", "--everywhere and --workspace exclude each other", "fabula help remember")
    access = app.memory_at(request.corpus)
    access.corpus()
    claim, body = claim_and_rest(app.stdin_text() if request.text.strip() == STDIN else request.text)
    if not claim:
        raise FabulaError("ERR_USAGE", "there is nothing to remember", "fabula remember 'Logs are written in UTC.'")
    workspace = None if request.everywhere else request.workspace or access.home_workspace()
    new = NewMemory(
        title=request.title or title_from(Typed(claim)),
        type=request.type,
        claim=claim,
        body=tuple(body),
        workspace=workspace,
        tags=request.tag,
        provenance=provenance_of(request),
    )
    made = put(access, new, may_ask=request.allow_secret)
    return RememberResult(
        made.path, made.title, claim, made.type, workspace, made.deduped, made.commit, made.notices
    )  # fmt: skip
