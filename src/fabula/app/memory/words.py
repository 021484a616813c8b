"""The closed vocabularies, for the surfaces: what they let through is what the format knows."""

from __future__ import annotations

from typing import Final

from fabula.memory.format import vocabulary

TYPES: Final = vocabulary.TYPES
WRITABLE_TYPES: Final = vocabulary.WRITABLE_TYPES
BUCKETS: Final = vocabulary.BUCKETS
TASK_STATUSES: Final = vocabulary.TASK_STATUSES
RELATIONS: Final = tuple(vocabulary.RELATIONS)
#: Relations between memories that are followed to find neighbours.
MEMORY_RELATIONS: Final = tuple(name for name, kind in vocabulary.RELATIONS.items() if kind == "memory")
