"""What the vault remembers of a rewriting of ours: which generation came of which, and how to go back.

Kept among the vault's own values under ``rewrite/<generation>``: a generation without a link was written by a host. A
link also names when its generation began, so that one which was forgotten leaves nothing to a later one of its id.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fabula.kernel.canonical import canonical_json
from fabula.kernel.values import as_dict, frozen

if TYPE_CHECKING:
    from fabula.record.vault.journal import Journal
    from fabula.record.vault.values import Generation

_PREFIX = "rewrite/"


@frozen
class Link:
    """A rewriting. Generations are ids of the vault.

    The first ``new_end`` bytes of ``generation`` replaced the first ``base_end`` bytes of ``base``; what follows them
    in the file was written by the host.
    """

    generation: int
    base: int
    base_end: int
    new_end: int
    kind: str  # prune, excise, undo, …
    made_at: int  # ms since the epoch
    begun_at: int  # of the generation


def note_link(journal: Journal, link: Link) -> None:
    """Write a link down, durably. Raises ``ERR_DISK``."""
    value = canonical_json({name: value for name, value in as_dict(link).items() if name != "generation"})
    journal.put("meta", [(f"{_PREFIX}{link.generation}", value)])


def link_of(journal: Journal, generation: Generation) -> Link | None:
    """Return the link of a generation; ``None`` when a host wrote it."""
    value = journal.meta(f"{_PREFIX}{generation.id}")
    link = None if value is None else Link(generation.id, **json.loads(value))
    return link if link is not None and link.begun_at == generation.begun_at else None
