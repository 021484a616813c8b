"""What the store needs of others: who says what already, what is a secret, what says nearly the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fabula.memory.format.reader import Reading
    from fabula.memory.store.values import Similar, Text
    from fabula.storage.git.values import Committed


class Known(Protocol):
    """The memories that are there, as an index knows them. Asked under the lock, brought to HEAD before."""

    def bring_to(self, commit: str) -> object:
        """Take in what was committed up to a commit."""
        ...

    def took(
        self,
        committed: Committed,
        contents: Mapping[str, bytes | None],
        readings: Mapping[str, Reading] | None = None,
    ) -> object:
        """Take in a commit that was just made: path -> its new bytes, ``None`` where it is gone.

        ``readings``: of some of these bytes.
        """
        ...

    def holder_of_fact(self, fact_hash: str) -> str | None:
        """Return the path of an active memory, no task, that states this fact."""
        ...

    def holders_of_content(self, content_hash: str) -> Sequence[str]:
        """Return the paths of active memories, no tasks, that read like this."""
        ...

    def frame_holders(self, keys: Iterable[str]) -> Mapping[str, Sequence[tuple[str, str]]]:
        """Return frame key -> (path, claim) of active memories, no tasks."""
        ...


class Guard(Protocol):
    """Says what in a text looks like a secret."""

    def secrets(self, text: str) -> Sequence[str]:
        """Return what kinds of secrets were found, never a secret itself."""
        ...


class Near(Protocol):
    """Finds what says nearly the same."""

    def near(self, texts: Sequence[Text]) -> Sequence[Sequence[Similar]]:
        """Return, for each text, memories and earlier texts that are near it, best first.

        Raises ``FabulaError`` where it cannot be told.
        """
        ...
