"""One process's way to a corpus of memories: its parts, put together from the settings, built when first asked for."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabula.app.config import Config
    from fabula.kernel.clock import Clock
    from fabula.kernel.paths import Home
    from fabula.models.embedding import Embedder, Unavailable


class MemoryAccess:
    """The live parts of one corpus. Making it opens nothing; ``notices`` say what limits an answer."""

    def __init__(
        self, root: Path, *, home: Home, config: Config, environment: Mapping[str, str], clock: Clock, cwd: Path
    ) -> None:
        self.root = root
        self.home = home
        self.config = config
        self.environment = environment
        self.clock = clock
        self.cwd = cwd
        self.notices: list[str] = []

    @cached_property
    def embedder(self) -> Embedder | Unavailable:
        """What makes vectors of texts, as the settings name it; never an error: words still find."""
        from fabula.models.choosing import EmbedderSettings, embedder_of

        config = self.config
        return embedder_of(
            EmbedderSettings(
                config["embedding.provider"],
                config["embedding.model"],
                config["embedding.url"],
                self.environment.get(config["embedding.key_env"], ""),
                float(config["embedding.timeout_seconds"]),
            ),
            _static_table(),
        )

    def home_workspace(self) -> str | None:
        """The workspace whose memories concern the working directory: its repository's; ``None`` outside of one."""
        from fabula.memory.format.slugs import slug
        from fabula.storage.repository import find_repository

        repository = find_repository(self.cwd)
        if repository is None or repository.root == self.root:
            return None
        return slug(repository.root.name.removesuffix(".git"))


def _static_table() -> Path:
    """Return the folder of the table that comes with Fabula."""
    from fabula import data

    return Path(data.__file__ or "").parent / "embedding"
