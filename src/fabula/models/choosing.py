"""Which embedder the settings name. The default needs no network, no key and no further package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.models.embedding import Embedder, Unavailable

if TYPE_CHECKING:
    from pathlib import Path

PROVIDERS: Final = ("static", "off", "openai", "ollama", "sentence-transformers")
_ADDRESSES: Final = {"openai": "https://api.openai.com/v1", "ollama": "http://localhost:11434"}


@frozen
class EmbedderSettings:
    """What a person configured. ``key`` is the key itself; ``timeout`` in seconds, of one request."""

    provider: str = "static"
    model: str = ""
    url: str = ""
    key: str = ""
    timeout: float = 10.0


def embedder_of(settings: EmbedderSettings, table: Path) -> Embedder | Unavailable:
    """Return the embedder that the settings name; ``table`` is the folder of the static table.

    Settings that cannot work are no reason to find nothing: what is wrong is said, and words still find.
    """
    try:
        return _embedder(settings, table)
    except FabulaError as error:
        return Unavailable(error.message, next(iter(error.suggestions), ""))


def _embedder(settings: EmbedderSettings, table: Path) -> Embedder | Unavailable:
    provider = settings.provider
    if provider == "off":
        return Unavailable("vectors are switched off (embedding.provider = off)")
    if provider == "static":
        from fabula.models.static_embedder import StaticEmbedder

        return StaticEmbedder(table)
    if provider == "sentence-transformers":
        from fabula.models.transformer_embedder import TransformerEmbedder

        return TransformerEmbedder(settings.model)
    if provider in _ADDRESSES:
        from fabula.models.http_embedder import HttpEmbedder

        url = settings.url or _ADDRESSES[provider]
        return HttpEmbedder(provider, settings.model, url, settings.key, settings.timeout)
    raise FabulaError("ERR_CONFIG", f"embedding.provider is none of {', '.join(PROVIDERS)}: {provider}")
