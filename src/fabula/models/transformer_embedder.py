"""sentence-transformers as an embedder: a neural network on this machine, installed and named by the user."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fabula.kernel.errors import FabulaError
from fabula.models.embedding import direction

if TYPE_CHECKING:
    from collections.abc import Sequence


class TransformerEmbedder:
    """Embeds by a model of sentence-transformers; the library is imported and the model loaded at the first text."""

    most_at_once = 32

    def __init__(self, model: str) -> None:
        """Name the model. Raises ``ERR_CONFIG`` when it has no name."""
        if not model:
            raise FabulaError(
                "ERR_CONFIG", "embedding.provider is sentence-transformers, and embedding.model names no model"
            )
        self._name = model

    @property
    def space(self) -> str:
        """The library and the model."""
        return f"sentence-transformers/{self._name}"

    def documents(self, texts: Sequence[str]) -> list[bytes]:
        """Return a vector for each text. Raises ``ERR_EMBEDDER``, ``ERR_EXTRA_MISSING``."""
        return self._encoded(list(texts), "encode_document")

    def query(self, text: str) -> bytes:
        """Return the vector of a query. Raises ``ERR_EMBEDDER``, ``ERR_EXTRA_MISSING``."""
        return self._encoded([text], "encode_query")[0]

    def _encoded(self, texts: list[str], method: str) -> list[bytes]:
        encode = getattr(self._model, method, None) or self._model.encode  # older releases know ``encode`` alone
        try:
            return [direction([float(one) for one in row]) for row in encode(texts)]
        except (RuntimeError, ValueError, TypeError, OSError) as error:
            raise FabulaError("ERR_EMBEDDER", f"the model {self._name} gave no vectors: {error}") from error

    @cached_property
    def _model(self) -> Any:
        try:
            library = import_module("sentence_transformers")  # by name: type checkers need not know it
        except ImportError as error:
            raise FabulaError(
                "ERR_EXTRA_MISSING",
                "embedding.provider is sentence-transformers, which is not installed",
                "pip install sentence-transformers",
            ) from error
        try:
            return library.SentenceTransformer(self._name)
        except (OSError, ValueError, RuntimeError) as error:
            raise FabulaError("ERR_EMBEDDER", f"the model {self._name} cannot be loaded: {error}") from error
