"""A thread as a reader sees it: turns in their parts, each a few pieces of text. Every output form starts from it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from fabula.kernel.values import frozen
from fabula.record.map.schema import ABANDONED, SIDECHAIN
from fabula.record.reading.arguments import arguments_text
from fabula.record.reading.graph import Node, arrange
from fabula.record.reading.sentinels import stub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fabula.kernel.records import Block
    from fabula.record.loader import Loaded

PieceKind = Literal["text", "thought", "call", "result", "image", "document", "other"]

#: Kinds with which hosts repeat what was typed (the last prompt, a title): an echo is not shown again.
_ECHOES = frozenset({"other", "title"})
#: Kinds of record whose text is shown whole as long as the budget allows: what people and agents said to each other.
_SAID = frozenset({"prompt", "task", "reply"})
LONG_ARGUMENTS = 500  # characters from which a call's arguments may be cut


@frozen
class Piece:
    """One block of a turn, private text and secrets taken out. ``elidable`` pieces give way when a budget is short."""

    kind: PieceKind
    text: str = ""
    tool: str = ""
    failed: bool = False
    elidable: bool = False


@frozen
class Turn:
    """One record. ``origin`` says where its bytes came from: ``live`` or ``vault``."""

    uid: str
    kind: str
    time: int | None
    pieces: tuple[Piece, ...]
    dangling: bool = False
    origin: str = "live"


@frozen
class Sidechain:
    """What one subagent did; ``spawned_by`` is the record or tool id that started it, where known."""

    session: str
    spawned_by: str
    turns: tuple[Turn, ...]


@frozen
class ThreadView:
    """A thread's turns by part, in file order. ``silent`` counts records that have nothing (new) to show, by kind."""

    thread: str
    session: str
    main: tuple[Turn, ...]
    branches: tuple[tuple[Turn, ...], ...]
    sidechains: tuple[Sidechain, ...]
    silent: dict[str, int]

    @property
    def branch_turns(self) -> int:
        """How many turns were abandoned."""
        return sum(map(len, self.branches))

    @property
    def sidechain_turns(self) -> int:
        """How many turns subagents took."""
        return sum(len(chain.turns) for chain in self.sidechains)


def view_thread(
    thread: str,
    session: str,
    loaded: Sequence[Loaded],
    *,
    redact: Callable[[str], str],
    exists: Callable[[str], bool] = lambda _: True,
) -> ThreadView:
    """Arrange a thread's loaded records, given in file order. ``redact`` takes secrets out of a text."""
    arrangement = arrange([node_of(one) for one in loaded], exists)
    silent: Counter[str] = Counter()
    typed = [block.text for one in loaded if one.row.kind in _SAID for block in one.record.blocks if block.text]

    def turns(indexes: Iterable[int]) -> tuple[Turn, ...]:
        shown = []
        for index in indexes:
            turn = _turn(loaded[index], redact, dangling=index in arrangement.dangling)
            if turn.pieces and not _is_echo(loaded[index], typed):
                shown.append(turn)
            else:
                silent[turn.kind] += 1
        return tuple(shown)

    return ThreadView(
        thread,
        session,
        turns(arrangement.main),
        tuple(filter(None, map(turns, arrangement.branches))),
        tuple(_sidechain([loaded[index] for index in chain], turns(chain)) for chain in arrangement.sidechains),
        dict(sorted(silent.items())),
    )


def node_of(one: Loaded) -> Node:
    """Return what the arrangement of a thread needs to know of a record."""
    row, usage = one.row, one.record.usage
    return Node(
        uid=row.uid,
        kind=row.kind,
        parent=row.parent,
        source=row.source,
        session=row.session_id,
        sidechain=bool(row.flags & SIDECHAIN),
        abandoned=not one.record.live or bool(row.flags & ABANDONED),
        response=usage.response if usage else "",
    )


def _is_echo(one: Loaded, typed: Sequence[str]) -> bool:
    """Say whether a record only repeats the beginning of something that was said."""
    if one.row.kind not in _ECHOES:
        return False
    texts = [block.text.strip() for block in one.record.blocks if block.text.strip()]
    return bool(texts) and all(any(said.startswith(text) for said in typed) for text in texts)


def _sidechain(chain: Sequence[Loaded], turns: tuple[Turn, ...]) -> Sidechain:
    spawned_by = next((one.record.spawned_by for one in chain if one.record.spawned_by), "")
    return Sidechain(chain[0].record.session, spawned_by, turns)


def _turn(one: Loaded, redact: Callable[[str], str], *, dangling: bool) -> Turn:
    said = one.row.kind in _SAID
    pieces = tuple(piece for block in one.record.blocks for piece in _pieces(block, redact, said=said))
    return Turn(one.row.uid, one.row.kind, one.row.time, pieces, dangling, one.origin)


def _pieces(block: Block, redact: Callable[[str], str], *, said: bool) -> Iterable[Piece]:
    if block.kind == "call":
        text = redact(arguments_text(block.input, stub) if block.input else stub(block.text))
        yield Piece("call", text, tool=block.tool, elidable=len(text) > LONG_ARGUMENTS)
    elif block.kind == "result":
        yield Piece("result", redact(stub(block.text)), failed=block.failed, elidable=True)
        yield from (Piece("image") for _ in range(block.images))
    elif block.kind in {"image", "document"}:
        yield Piece(block.kind)
    elif block.text.strip():
        yield Piece(block.kind, redact(stub(block.text)), elidable=block.kind == "thought" or not said)
