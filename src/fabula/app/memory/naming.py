"""Names that people type for things in memories: entities as ``type:name``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError

if TYPE_CHECKING:
    from collections.abc import Sequence


def entity_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return entities as they were named. Raises ``ERR_USAGE`` for one that is not ``type:name``."""
    for name in names:
        kind, colon, rest = name.partition(":")
        if not (colon and kind.strip() and rest.strip()):
            raise FabulaError("ERR_USAGE", f"an entity is type:name, not {name!r}", "--entity service:checkout-api")
    return tuple(names)
