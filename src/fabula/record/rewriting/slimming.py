"""What slimming a transcript is made of, whatever the host: categories, what each saves, and what comes of it.

A host that can be slimmed gives a ``Slimmer``; the record knows no host by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from fabula.record.rewriting.plan import Change, Snapshot


@frozen
class Category:
    """A kind of thing that can be taken out. ``default``: it is, unless a person says otherwise."""

    key: str
    label: str
    default: bool = True


@frozen
class Saving:
    """What one category takes (or would take) out: records touched, bytes of the file, and the model's tokens of them.

    What two categories could take counts for the first one; those that are chosen come before those that are not.
    """

    key: str
    records: int
    bytes: int
    tokens: int


@frozen
class Slimming:
    """What slimming does. ``linked`` counts the records that got another parent."""

    changes: tuple[Change, ...]
    savings: tuple[Saving, ...]
    linked: int


class Slimmer(Protocol):
    """Knows the lines of one host."""

    CATEGORIES: tuple[Category, ...]

    def slim(self, snapshot: Snapshot, chosen: AbstractSet[str], *, weigh_others: bool = False) -> Slimming:
        """Say what to change, and, if asked, what the other categories would take out after that. Pure.

        Raises ``ERR_CHAIN`` when the session would be left broken.
        """
        ...
