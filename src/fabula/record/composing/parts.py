"""What a composition is made of, and what an agent must offer so that a session can be composed for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from fabula.record.composing.ids import FreshIds
    from fabula.record.composing.pairing import End


@frozen
class Copied:
    """One record that goes in: its id in the source, and its value as decoded JSON (never changed in place)."""

    uid: str
    value: dict[str, Any]


@frozen
class Part:
    """One thread of a composition. ``card`` stands for the records where it is not empty.

    Times in ms; ``left_out`` counts records of the thread by the reason why they stay out.
    """

    thread: str
    session: str
    title: str
    first_time: int | None
    last_time: int | None
    records: tuple[Copied, ...]
    left_out: dict[str, int]
    card: str = ""
    retold: bool = False  # the records are another agent's, as text


@frozen
class Told:
    """What a record of another agent said, as text. ``role`` is user or assistant; ``time`` in ms.

    ``answer`` names the assistant's turn: consecutive records of one turn share it.
    """

    uid: str
    role: str
    text: str
    time: int | None
    answer: str


@frozen
class Heading:
    """What holds for the new session as a whole; ``now`` in ms."""

    session: str
    title: str
    cwd: str
    now: int


@frozen
class Written:
    """A composed session's bytes, by part: ``head`` stands before the parts, ``tail`` after them."""

    head: bytes
    parts: tuple[bytes, ...]
    tail: bytes

    @property
    def data(self) -> bytes:
        """The whole file."""
        return b"".join((self.head, *self.parts, self.tail))


class Composer(Protocol):
    """How one agent's sessions are written."""

    host: str

    def stays_out(self, value: dict[str, Any]) -> str:
        """Return why a record of the conversation's path does not belong into a new session, ``""`` if it does."""
        ...

    def answer_of(self, value: dict[str, Any]) -> str:
        """Return the API response that a record is a part of, ``""`` when it is none or unknown."""
        ...

    def without(self, value: dict[str, Any], ends: Collection[End], *, thoughts: bool) -> dict[str, Any]:
        """Return a record without these calls and results; without its thoughts if ``thoughts``."""
        ...

    def tell(self, told: Told) -> dict[str, Any]:
        """Return a record of this agent that says what a record of another one said."""
        ...

    def folder(self, root: Path, cwd: str) -> Path:
        """Return the folder below ``root`` in which the agent looks for sessions of ``cwd``. Raises ``ERR_PATH``."""
        ...

    def file_name(self, session: str) -> str:
        """Return the name of a session's file."""
        ...

    def write(self, heading: Heading, parts: Sequence[Part], ids: FreshIds) -> Written:
        """Write the session: every record with new ids, in one chain, naming what it was made from."""
        ...
